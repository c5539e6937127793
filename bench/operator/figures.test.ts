import assert from "node:assert/strict";
import { test } from "node:test";
import { compareRatios, median, mediansOf, ratio, ratiosOf } from "./figures.ts";

test("a median is the middle value, or the mean of the two in the middle", () => {
  assert.equal(median([5, 1, 3]), 3);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([10, 9]), 9.5);
  assert.throws(() => median([]), /no median/);
});

test("a ratio to nothing is one for nothing, and infinite for anything else", () => {
  assert.equal(ratio(3, 2), 1.5);
  assert.equal(ratio(0, 0), 1);
  assert.equal(ratio(5, 0), Number.POSITIVE_INFINITY);
});

test("ratios are those of the medians, for what the reference has as well", () => {
  const samples = new Map([
    [
      "konverge",
      new Map([
        ["cold: s", [3, 1, 2]],
        ["only here", [1]],
      ]),
    ],
    ["controller-runtime", new Map([["cold: s", [4, 4, 9]]])],
  ]);
  const ratios = ratiosOf(mediansOf(samples));
  assert.deepEqual([...ratios.get("konverge")!], [["cold: s", 0.5]]);
  assert.deepEqual([...ratios.get("controller-runtime")!], [["cold: s", 1]]);
});

test("the rate of the load is not compared", () => {
  const medians = new Map([
    ["konverge", new Map([["steady: created per s", 99]])],
    ["controller-runtime", new Map([["steady: created per s", 100]])],
  ]);
  assert.equal(ratiosOf(medians).get("konverge")!.size, 0);
});

test("without the reference there are no ratios", () => {
  assert.equal(ratiosOf(new Map([["konverge", new Map([["cold: s", 1]])]])).size, 0);
});

test("a ratio within the tolerance is no change, in both directions", () => {
  const committed = new Map([
    ["a", 1],
    ["b", 1],
  ]);
  const fresh = new Map([
    ["a", 1.25],
    ["b", 0.8],
  ]);
  assert.deepEqual(compareRatios(committed, fresh, 0.25), { worse: [], better: [] });
});

test("a ratio beyond the tolerance is worse if it is more and better if it is less", () => {
  const committed = new Map([
    ["a", 1],
    ["b", 1],
    ["writes", 1],
  ]);
  const fresh = new Map([
    ["a", 1.26],
    ["b", 0.7],
    ["writes", Number.POSITIVE_INFINITY],
  ]);
  const { worse, better } = compareRatios(committed, fresh, 0.25);
  assert.deepEqual(
    worse.map(({ what }) => what),
    ["a", "writes"],
  );
  assert.deepEqual(better, [{ what: "b", before: 1, now: 0.7 }]);
});

test("a ratio that was not measured again is worse", () => {
  assert.deepEqual(compareRatios(new Map([["a", 1]]), new Map(), 10).worse, [{ what: "a", before: 1 }]);
});
