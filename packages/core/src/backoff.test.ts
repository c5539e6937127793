import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffAfter } from "./backoff.ts";
import { seededRandom } from "./random.ts";

test("waits double up to the longest, each somewhere in the upper half of its range", () => {
  const random = seededRandom(1);
  const limits = { initial: 100, longest: 1000 };
  for (const [failures, range] of [
    [0, 100],
    [1, 200],
    [3, 800],
    [4, 1000],
    [5000, 1000],
  ] as const) {
    for (let i = 0; i < 20; i++) {
      const wait = backoffAfter(failures, limits, random);
      assert.ok(wait >= range / 2 && wait < range, `${wait} after ${failures}`);
    }
  }
});
