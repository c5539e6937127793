import assert from "node:assert/strict";
import { test } from "node:test";
import { correctedSize } from "./corrected-size.ts";
import type { SizingRules } from "./decide.ts";
import { believedLimits, futileObjectives, learnedLimits, replicasWithinLimits } from "./learned-limits.ts";
import type { SizingState } from "./load-watch.ts";
import type { LoadMeasurement } from "./measurement.ts";

const MINUTE = 60_000;
const missed = (measured: number) => [{ indicator: "interTokenLatency" as const, max: 0.05, measured }];
const percentiles = { queueTime: 0.01 };

test("a load per replica with which an objective was missed is not given to replicas again for an hour", () => {
  const limits = learnedLimits(new Map(), missed(0.08), { load: 40, percentiles }, { replicas: 4, now: 0 });
  assert.equal(replicasWithinLimits(limits, 40), 5);
  assert.equal(replicasWithinLimits(limits, 9), 1);
  assert.equal(believedLimits(limits, 59 * MINUTE).size, 1);
  assert.equal(believedLimits(limits, 60 * MINUTE).size, 0);
});

test("an objective that a replica without load would miss is not helped by more replicas", () => {
  const first = learnedLimits(new Map(), missed(0.08), { load: 40, percentiles }, { replicas: 4, now: 0 });
  const improved = learnedLimits(first, missed(0.063), { load: 40, percentiles }, { replicas: 8, now: 1 });
  assert.deepEqual([...futileObjectives(improved)], []);
  const hardly = learnedLimits(first, missed(0.07), { load: 40, percentiles }, { replicas: 8, now: 1 });
  assert.deepEqual([...futileObjectives(hardly)], ["interTokenLatency"]);
  assert.equal(replicasWithinLimits(hardly, 40), 0);
});

test("while requests wait, replicas are full, and nothing is concluded about their influence", () => {
  const waiting = { load: 40, percentiles: { queueTime: 3 } };
  const first = learnedLimits(new Map(), missed(0.08), waiting, { replicas: 4, now: 0 });
  const same = learnedLimits(first, missed(0.08), waiting, { replicas: 8, now: 1 });
  assert.deepEqual([...futileObjectives(same)], []);
});

const rules: SizingRules = {
  initial: 1,
  min: 1,
  max: 20,
  affordable: undefined,
  concurrency: 64,
  load: undefined,
  serviceTime: undefined,
  minThroughput: 0,
  promised: undefined,
  objectives: { part: 0.95, max: { interTokenLatency: 0.05 } },
  burst: 50,
  downAfter: 5 * MINUTE,
};

/** Plays measurements each 15 seconds against servers whose time between tokens depends on their load. */
function play(minutes: number, load: (minute: number) => number, itl: (perReplica: number) => number) {
  const memory: SizingState = { scrapes: [], recent: [], changedAt: 0, observedAt: 0 };
  const sizes: number[] = [1];
  let futile: ReadonlySet<string> = new Set();
  for (let now = 15_000; now <= minutes * MINUTE; now += 15_000) {
    const replicas = sizes.at(-1)!;
    const rate = load(now / MINUTE);
    const measured: LoadMeasurement = {
      load: rate,
      serviceTime: 1,
      latency: 1,
      percentiles: { interTokenLatency: itl(rate / replicas), queueTime: 0 },
      requests: 1000,
      draining: false,
    };
    const last = { replicas, byMeasurement: true };
    const size = correctedSize({ rules, measured, last, current: replicas, ready: replicas, monotonic: now }, memory);
    if (size.replicas !== replicas) memory.changedAt = now;
    futile = size.futile;
    sizes.push(size.replicas);
  }
  const changes = sizes.filter((size, i) => i > 0 && size !== sizes[i - 1]).length;
  return { sizes, changes, futile, memory };
}

test("a time between tokens that grows with the load is corrected, and the size stays", () => {
  // With noise: ten requests a second of each replica are just too many.
  const { sizes, changes } = play(
    50,
    (minute) => 40 + 2 * Math.sin(minute * 7),
    (perReplica) => 0.02 + 0.0031 * perReplica,
  );
  assert.equal(sizes.at(-1), 5);
  assert.ok(changes <= 5, `it changed ${changes} times: ${sizes.join(" ")}`);
  assert.equal(new Set(sizes.slice(-100)).size, 1, `it does not come to an end: ${sizes.join(" ")}`);
});

test("a size that was corrected follows a load that falls", () => {
  const { sizes } = play(
    40,
    (minute) => (minute < 20 ? 40 : 8),
    (perReplica) => 0.02 + 0.0031 * perReplica,
  );
  assert.equal(sizes.at(-1), 1);
});

test("a time between tokens that no replica can keep does not take all replicas", () => {
  const { sizes, futile } = play(
    40,
    () => 40,
    () => 0.2,
  );
  assert.ok(Math.max(...sizes) <= 4, sizes.join(" "));
  assert.equal(sizes.at(-1), 1);
  assert.deepEqual([...futile], ["interTokenLatency"]);
});

test("what was learned about replicas is forgotten when they run something else", () => {
  const { memory } = play(
    10,
    () => 40,
    () => 0.2,
  );
  const measured: LoadMeasurement = { load: 40, serviceTime: 1, latency: 1, requests: 1000, draining: false };
  const input = { rules, measured, last: { replicas: 1, byMeasurement: true }, current: 1, ready: 1, monotonic: 0 };
  correctedSize({ ...input, revision: "other" }, memory);
  assert.equal(memory.limits?.size, 0);
});
