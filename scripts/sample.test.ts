import assert from "node:assert/strict";
import { test } from "node:test";
import { rotatingSeed, sample } from "./sample.ts";

const items = Array.from({ length: 50 }, (_, index) => index);

test("a sample is a part of the list in the list's order, the same for the same seed", () => {
  const first = sample(items, 3, 7);
  assert.equal(first.length, 17);
  assert.deepEqual(
    first,
    [...first].sort((a, b) => a - b),
  );
  assert.deepEqual(sample(items, 3, 7), first);
  assert.notDeepEqual(sample(items, 3, 8), first);
});

test("over many seeds every item is drawn", () => {
  const drawn = new Set(Array.from({ length: 40 }, (_, seed) => sample(items, 5, seed)).flat());
  assert.equal(drawn.size, items.length);
});

test("a seed that is not a whole number is refused", () => {
  assert.equal(rotatingSeed("12"), 12);
  assert.throws(() => rotatingSeed("x"), /--seed x: it must be a whole number/);
});
