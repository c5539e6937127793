import assert from "node:assert/strict";
import { test } from "node:test";
import { Glob } from "./pattern.ts";

const FREE = { spend: () => undefined };

test("patterns match whole texts", async () => {
  const cases: [pattern: string, text: string, matches: boolean][] = [
    ["*.txt", "a.txt", true],
    ["*.txt", "a.txt.gz", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["[a-c]*", "bx", true],
    ["[!a-c]*", "bx", false],
    ["[^a-c]x", "dx", true],
    ["[]a]", "]", true],
    ["[[:digit:]]*", "1a", true],
    ["[a-c", "[a-c", true],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["**", "", true],
    ["a*b*c", "a-b-b-c", true],
    ["plain", "plain", true],
    ["a\nb*", "a\nbc", true],
  ];
  for (const [pattern, text, matches] of cases)
    assert.equal(await new Glob(pattern).matches(text, FREE), matches, `${pattern} ${text}`);
});

test("the shortest and the longest beginning and end are found", async () => {
  const path = "/a/b.tar.gz";
  assert.equal(await new Glob("*/").beginning(path, false, FREE), 1);
  assert.equal(await new Glob("*/").beginning(path, true, FREE), 3);
  assert.equal(await new Glob(".*").ending(path, false, FREE), 3);
  assert.equal(await new Glob(".*").ending(path, true, FREE), 7);
  assert.equal(await new Glob("x*").beginning(path, true, FREE), undefined);
});

test("matching takes no more steps than the length of the pattern times that of the text", async () => {
  let steps = 0;
  const counting = {
    spend: (count: number) => {
      steps += count;
      return undefined;
    },
  };
  const text = "a".repeat(20_000);
  assert.equal(await new Glob(`${"*a".repeat(30)}b`).matches(text, counting), false);
  assert.equal(await new Glob("*b").beginning(text, true, counting), undefined);
  assert.ok(steps > 1000 && steps < 10_000, `${steps} steps`);
});
