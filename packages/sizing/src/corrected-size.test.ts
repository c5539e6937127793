import assert from "node:assert/strict";
import { test } from "node:test";
import { correctedSize } from "./corrected-size.ts";
import type { SizingRules } from "./decide.ts";

const rules: SizingRules = {
  initial: 4,
  min: 1,
  max: 10,
  affordable: undefined,
  concurrency: 8,
  load: undefined,
  serviceTime: undefined,
  minThroughput: 0,
  promised: undefined,
  burst: 50,
  downAfter: 0,
};

/** The size after another one, while nothing is measured. */
function sizeAfter(last: { replicas: number; isCapped?: boolean }, more: Partial<SizingRules> = {}): number {
  const before = { byMeasurement: true, ...last };
  const input = { measured: undefined, last: before, current: last.replicas, ready: last.replicas, monotonic: 0 };
  return correctedSize(
    { rules: { ...rules, ...more }, ...input },
    { scrapes: [], recent: [], changedAt: 0, observedAt: 0 },
  ).replicas;
}

test("a size that was measured stays while nothing is measured", () => {
  assert.equal(sizeAfter({ replicas: 2 }), 2);
  assert.equal(sizeAfter({ replicas: 7 }), 7);
});

test("a size that a bound kept too small stays only as long as the bound, and is at least the initial one then", () => {
  assert.equal(sizeAfter({ replicas: 2, isCapped: true }, { affordable: 2 }), 2);
  assert.equal(sizeAfter({ replicas: 2, isCapped: true }), 4);
  assert.equal(sizeAfter({ replicas: 7, isCapped: true }), 7);
});
