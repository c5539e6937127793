import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { autoscalerBounds, type RecentSizes, requiredReplicas, type SizingRules, stabilizedSize } from "./decide.ts";

const rules: SizingRules = {
  initial: 4,
  min: 1,
  max: 20,
  affordable: undefined,
  concurrency: 1,
  load: undefined,
  serviceTime: undefined,
  minThroughput: 0,
  promised: { maxLatency: 0.1, part: 0.95 },
  burst: 50,
  downAfter: 300_000,
};
const measured = (load: number, latency?: number) => ({
  load,
  serviceTime: 0.05,
  latency,
  requests: 1000,
  draining: false,
});

test("while nothing is known, the size is the one that was asked for", () => {
  assert.deepEqual(requiredReplicas(rules, undefined, undefined), {
    replicas: 4,
    reason: "NothingMeasured",
    hopeless: false,
    short: false,
  });
});

test("a declared load gives the first size, a measured one replaces it", () => {
  const declared = { ...rules, load: 60, serviceTime: 0.05 };
  const first = requiredReplicas(declared, undefined, undefined);
  assert.equal(first.reason, "LoadDeclared");
  assert.ok(first.replicas >= 4 && first.replicas <= 8, String(first.replicas));
  const later = requiredReplicas(declared, measured(10), 4);
  assert.equal(later.reason, "LoadMeasured");
  assert.ok(later.replicas < first.replicas);
});

test("a latency above the SLA requires more replicas than the model, but at most twice as many", () => {
  const need = requiredReplicas(rules, measured(10, 0.4), 3);
  assert.deepEqual([need.replicas, need.reason], [6, "LatencyAboveSLA"]);
  assert.equal(requiredReplicas(rules, measured(10, 0.101), 3).replicas, 4);
  assert.equal(requiredReplicas(rules, measured(10, 0.09), 3).reason, "LoadMeasured");
});

test("an objective about queues is sized for by the model, before anything is missed", () => {
  const loose = { ...rules, promised: undefined };
  const strict = { ...loose, objectives: { part: 0.95, max: { queueTime: 0.01 } } };
  assert.equal(requiredReplicas(loose, measured(60), 4).replicas, 4);
  const need = requiredReplicas(strict, measured(60), 4);
  assert.deepEqual([need.replicas > 4, need.reason], [true, "LoadMeasured"]);
  const first = { ...loose, objectives: { part: 0.95, max: { timeToFirstToken: 0.01 } } };
  assert.equal(requiredReplicas(first, measured(60), 4).replicas, need.replicas);
});

test("of several objectives, the one that is missed by most decides", () => {
  const both = { ...rules, objectives: { part: 0.95, max: { timeToFirstToken: 0.02, interTokenLatency: 0.01 } } };
  const percentiles = { timeToFirstToken: 0.03, interTokenLatency: 0.018 };
  const need = requiredReplicas(both, { ...measured(10, 0.11), percentiles }, 3);
  assert.deepEqual([need.replicas, need.reason], [6, "InterTokenLatencyAboveSLA"]);
});

test("bounds and costs are respected, and the reason names which of them", () => {
  assert.deepEqual(
    [requiredReplicas(rules, measured(5000), 4).replicas, requiredReplicas(rules, measured(5000), 4).reason],
    [20, "AtMaximum"],
  );
  const capped = requiredReplicas({ ...rules, affordable: 7 }, measured(5000), 4);
  assert.deepEqual([capped.replicas, capped.reason, capped.short], [7, "CostCap", true]);
  assert.equal(requiredReplicas({ ...rules, min: 3 }, measured(0.1), 4).reason, "AtMinimum");
});

test("a promise that serving alone breaks is hopeless, and sized by the load", () => {
  const need = requiredReplicas({ ...rules, promised: { maxLatency: 0.01, part: 0.95 } }, measured(90, 0.06), 5);
  assert.equal(need.hopeless, true);
  assert.equal(need.replicas, 5);
});

test("more is followed at once, fewer only after a whole window in which fewer were enough", () => {
  let recent: readonly RecentSizes[] = [];
  let current = 4;
  const sizes: number[] = [];
  const needs = [4, 9, 3, 3, 3, 3, 3, 3, 3];
  for (const [i, need] of needs.entries()) {
    const settled = stabilizedSize(i * 60_000, current, { up: need, down: need }, recent, 300_000);
    ({ recent, replicas: current } = settled);
    sizes.push(current);
  }
  assert.deepEqual(sizes, [4, 9, 9, 9, 9, 9, 9, 3, 3]);
});

test("a process that has just started gives nothing up", () => {
  const first = stabilizedSize(0, 9, { up: 2, down: 2 }, [], 300_000);
  assert.equal(first.replicas, 9);
});

test("whatever is needed, the size never falls below it, and within a window it never goes down twice", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 2, maxLength: 60 }), (needs) => {
      let recent: readonly RecentSizes[] = [];
      let current = needs[0]!;
      let lastDown = Number.NEGATIVE_INFINITY;
      for (const [i, need] of needs.entries()) {
        const now = i * 30_000;
        const settled = stabilizedSize(now, current, { up: need, down: need }, recent, 120_000);
        assert.ok(settled.replicas >= need);
        if (settled.replicas < current) {
          const before = needs.slice(Math.max(0, i - 4), i + 1);
          assert.equal(settled.replicas, Math.max(...before), "down to the most that was needed in the window");
          lastDown = now;
        }
        assert.ok(lastDown <= now);
        ({ recent, replicas: current } = settled);
      }
    }),
  );
});

test("the autoscaler may choose between what is needed and a burst beyond it, never beyond what is allowed", () => {
  assert.deepEqual(autoscalerBounds(4, rules), { min: 4, max: 6 });
  assert.deepEqual(autoscalerBounds(18, rules), { min: 18, max: 20 });
  assert.deepEqual(autoscalerBounds(4, { ...rules, affordable: 5 }), { min: 4, max: 5 });
  assert.deepEqual(autoscalerBounds(0, rules), { min: 1, max: 2 });
});
