import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  expectedLatency,
  MAX_UTILIZATION,
  replicasForObjective,
  type ServiceDemand,
  waitingProbability,
} from "./queueing.ts";

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-4, `${actual} is not about ${expected}`);

test("the chance of waiting is the one in the tables", () => {
  near(waitingProbability(1, 0.5), 0.5);
  near(waitingProbability(2, 1), 1 / 3);
  near(waitingProbability(10, 8), 0.40918);
  near(waitingProbability(100, 90), 0.2169);
  assert.equal(waitingProbability(5, 5), 1);
  assert.equal(waitingProbability(5, 0), 0);
});

test("a single server's waits are those of the textbook", () => {
  // One server, half busy: half of the requests wait; of a wait, the 95th percentile is ln(0.5 / 0.05) / (2 - 1).
  near(expectedLatency(1, { load: 1, serviceTime: 0.5, concurrency: 1 }, 0.95), 0.5 + Math.log(10));
});

const demands = fc.record({
  load: fc.double({ min: 0.01, max: 500, noNaN: true }),
  serviceTime: fc.double({ min: 0.005, max: 5, noNaN: true }),
  concurrency: fc.integer({ min: 1, max: 64 }),
});
const parts = fc.double({ min: 0.5, max: 0.999, noNaN: true });
const slack = fc.double({ min: 1, max: 10, noNaN: true });

test("the size keeps the promise, and one replica less would not, or would be too busy", () => {
  fc.assert(
    fc.property(demands, parts, slack, (demand, part, times) => {
      const maxLatency = demand.serviceTime * times;
      const replicas = replicasForObjective(demand, { maxLatency, part });
      assert.ok(expectedLatency(replicas, demand, part) <= maxLatency + 1e-9);
      const fewer = replicas - 1;
      if (fewer < 1) return;
      const tooBusy = (demand.load * demand.serviceTime) / (fewer * demand.concurrency) > MAX_UTILIZATION;
      assert.ok(tooBusy || expectedLatency(fewer, demand, part) > maxLatency);
    }),
    { numRuns: 300 },
  );
});

test("more replicas are never slower, and more load is never faster", () => {
  fc.assert(
    fc.property(demands, parts, fc.integer({ min: 1, max: 200 }), (demand, part, replicas) => {
      const now = expectedLatency(replicas, demand, part);
      assert.ok(expectedLatency(replicas + 1, demand, part) <= now + 1e-9);
      assert.ok(expectedLatency(replicas, { ...demand, load: demand.load * 1.2 }, part) >= now - 1e-9);
    }),
    { numRuns: 300 },
  );
});

test("more load never needs fewer replicas, nor does a stricter promise", () => {
  fc.assert(
    fc.property(demands, parts, slack, (demand: ServiceDemand, part, times) => {
      const promised = { maxLatency: demand.serviceTime * times, part };
      const replicas = replicasForObjective(demand, promised);
      assert.ok(replicasForObjective({ ...demand, load: demand.load * 1.5 }, promised) >= replicas);
      assert.ok(replicasForObjective(demand, { ...promised, maxLatency: promised.maxLatency * 2 }) <= replicas);
    }),
    { numRuns: 200 },
  );
});

test("without load nothing is needed; a promise that serving alone breaks is sized by the load", () => {
  const demand = { load: 10, serviceTime: 0.5, concurrency: 1 };
  assert.equal(replicasForObjective({ ...demand, load: 0 }, { maxLatency: 1, part: 0.95 }), 0);
  assert.equal(replicasForObjective(demand, { maxLatency: 0.1, part: 0.95 }), 6);
  assert.equal(replicasForObjective(demand), 6);
});
