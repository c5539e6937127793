import assert from "node:assert/strict";
import { test } from "node:test";
import { applyJsonPatch } from "@konverge/schema/patch";
import fc from "fast-check";
import { jsonDiff } from "./json-diff.ts";

test("the operations make the one of the other", () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue()).filter((object) => !("__proto__" in object));
  fc.assert(
    fc.property(json, json, (given, wanted) => {
      const [before, after] = [structured(given), structured(wanted)];
      assert.deepEqual(structured(applyJsonPatch(before, jsonDiff(before, after) as never)), after);
    }),
    { numRuns: 300 },
  );
});

test("only what differs is mentioned, and names are escaped", () => {
  const before = { metadata: { labels: { "a/b": "1", "c~d": "2" } }, list: [1, 2], gone: true };
  const after = { metadata: { labels: { "a/b": "3", "c~d": "2", e: "4" } }, list: [1, 5] };
  assert.deepEqual(jsonDiff(before, after), [
    { op: "replace", path: "/metadata/labels/a~1b", value: "3" },
    { op: "add", path: "/metadata/labels/e", value: "4" },
    { op: "replace", path: "/list/1", value: 5 },
    { op: "remove", path: "/gone" },
  ]);
});

test("a field with a name that every object has is added like others", () => {
  assert.deepEqual(jsonDiff({ labels: {} }, { labels: { constructor: "x", toString: "y" } }), [
    { op: "add", path: "/labels/constructor", value: "x" },
    { op: "add", path: "/labels/toString", value: "y" },
  ]);
});

const structured = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
