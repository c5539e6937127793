import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fnv1a32, generateName, safeEncode, templateHash, truncatedName } from "./names.ts";
import { dns1123LabelErrors } from "./naming-rules.ts";
import { seededRandom } from "./random.ts";

test("the hash is FNV-1a", () => {
  const known: [text: string, hash: number][] = [
    ["", 0x811c9dc5],
    ["a", 0xe40c292c],
    ["foobar", 0xbf9cf968],
    ["größe", 0xcd38f49a],
  ];
  for (const [text, hash] of known) assert.equal(fnv1a32(text), hash);
});

test("hashes are written in letters that spell nothing", () => {
  // What rand.SafeEncodeString of apimachinery gives.
  assert.equal(safeEncode("2166136261"), "65bb57b6b5");
  assert.equal(safeEncode("0123456789"), "456789bcdf");
  assert.equal(safeEncode(""), "");
});

test("generateName keeps to 63 characters", () => {
  const random = seededRandom(1);
  assert.match(generateName("web-", random), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.equal(generateName("a".repeat(100), random).length, 63);
  assert.notEqual(generateName("web-", random), generateName("web-", random));
});

test("a name that fits stays the same, a longer one is truncated and gets a hash", () => {
  assert.equal(truncatedName("llama"), "llama");
  assert.equal(truncatedName("llama", "svc"), "llama-svc");
  const [long, longer] = ["a".repeat(70), "a".repeat(71)];
  assert.match(truncatedName(long, "svc"), /^a+-[a-z0-9]+-svc$/);
  assert.equal(truncatedName(long, "svc"), truncatedName(long, "svc"));
  assert.notEqual(truncatedName(long, "svc"), truncatedName(longer, "svc"));
  assert.notEqual(truncatedName(long), truncatedName(long, "svc"));
  assert.ok(truncatedName("base", "s".repeat(80)).length <= 63);
  for (const cut of [1, 2])
    assert.doesNotMatch(truncatedName(`${"a-".repeat(40)}${"b".repeat(cut)}`, "s".repeat(cut)), /--/);
});

test("whatever the parts and the limit, the name is valid and short enough", () => {
  const part = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,90}[a-z0-9])?$/);
  fc.assert(
    fc.property(part, fc.oneof(fc.constant(""), part), fc.integer({ min: 1, max: 63 }), (base, suffix, limit) => {
      const name = truncatedName(base, suffix, limit);
      assert.ok(name.length <= limit);
      assert.deepEqual(dns1123LabelErrors(name), []);
    }),
  );
});

test("a template's hash ignores the order of keys and heeds the collision count", () => {
  const hash = templateHash({ a: 1, b: { c: [2] } });
  assert.equal(templateHash({ b: { c: [2] }, a: 1 }), hash);
  assert.notEqual(templateHash({ a: 1, b: { c: [3] } }), hash);
  assert.notEqual(templateHash({ a: 1, b: { c: [2] } }, 1), hash);
  assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]+$/);
});
