import assert from "node:assert/strict";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { patternsIn, tryPattern } from "./catalogue.ts";
import { resultText } from "./result-text.ts";

test("the patterns that judge the explorer are numbered as well", () => {
  const names = patternsIn(join(import.meta.dirname, "unseen")).map(({ name }) => Number(name.slice(0, 2)));
  assert.deepEqual(
    names,
    Array.from({ length: 22 }, (_, i) => i + 1),
  );
});

test("each pattern has a name, and there are eighteen", () => {
  const names = patternsIn(import.meta.dirname).map(({ name }) => name);
  assert.equal(names.length, 18);
  assert.deepEqual(
    names.map((name) => Number(name.slice(0, 2))),
    Array.from({ length: 18 }, (_, i) => i + 1),
  );
});

// A sample, each with the family of faults that shows it; all of them with all faults are `npm run catalogue`.
for (const [name, family, oracle] of [
  ["01-crash-between-writes", "crash", "end state"],
  ["03-external-without-id", "crash", "scenario"],
  ["09-duplicates", "stale", "leak"],
  ["unseen/16-failure-of-the-terminating", "application", "end state"],
  ["unseen/17-ended-member-kept", "application", "end state"],
] as const) {
  test(`${name} is found by the oracle ${oracle}, and its fixed twin has no findings`, async () => {
    const folder = join(import.meta.dirname, dirname(name));
    const pattern = patternsIn(folder).find((one) => one.name === basename(name))!;
    const result = await tryPattern(pattern, 1, [family]);
    assert.equal(result.found?.oracle, oracle, resultText(result));
    assert.ok(result.confirmed && result.isLost, resultText(result));
    assert.deepEqual(result.shownBy, [family]);
    assert.deepEqual(result.alarms, [], resultText(result));
  });
}
