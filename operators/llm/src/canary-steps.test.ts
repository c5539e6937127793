import assert from "node:assert/strict";
import { test } from "node:test";
import { type CanaryObservation, nextCanary } from "./canary-steps.ts";
import type { CanaryStatus } from "./rollout-spec.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;

const calm: CanaryObservation = {
  revision: "b",
  steps: 2,
  intervalMs: 5 * MINUTE,
  deadlineMs: 40 * MINUTE,
  weight: 10,
  replicas: 2,
  readyReplicas: 2,
  results: [],
  percentile: 95,
  errorRate: undefined,
  maxErrorRate: 1,
  problem: undefined,
  isCrashing: false,
  isPromoted: false,
  now: START,
};

/** The states of a canary after each of these observations, a minute apart. */
function states(...observations: readonly Partial<CanaryObservation>[]): (CanaryStatus | undefined)[] {
  let state: CanaryStatus | undefined;
  return observations.map((one, i) => {
    state = nextCanary(state, { ...calm, now: START + i * MINUTE, ...one });
    return state;
  });
}

const after = (minutes: number, observation: Partial<CanaryObservation> = {}) => ({
  ...observation,
  now: START + minutes * MINUTE,
});
const words = (all: readonly (CanaryStatus | undefined)[]) => all.map((one) => one && `${one.phase} ${one.step}`);
const slow = [{ indicator: "timeToFirstToken", max: 0.5, measured: 0.8 }] as const;
const fast = [{ indicator: "timeToFirstToken", max: 0.5, measured: 0.4 }] as const;
const unknown = [{ indicator: "timeToFirstToken", max: 0.5, measured: undefined }] as const;

test("a step lasts for the interval after its replicas are ready, and the last one ends in a promotion", () => {
  const all = states(
    after(0, { readyReplicas: 0 }),
    after(1, { readyReplicas: 1 }),
    after(2),
    after(6),
    after(7),
    after(8),
    after(13),
    after(14),
    after(15, { isPromoted: true }),
  );
  assert.deepEqual(words(all), [
    "Starting 0",
    "Starting 0",
    "Analyzing 0",
    "Analyzing 0",
    "Starting 1",
    "Analyzing 1",
    "Promoting 1",
    "Promoting 1",
    undefined,
  ]);
});

test("an objective that is missed for two minutes rolls back; for one minute it does not", () => {
  const short = states({}, {}, { results: slow }, { results: slow }, { results: fast }, { results: slow });
  assert.equal(short.at(-1)?.phase, "Analyzing");
  const long = states({}, {}, { results: slow }, { results: slow }, { results: slow }, { results: fast });
  assert.deepEqual(words(long).slice(-2), ["RolledBack 0", "RolledBack 0"]);
  assert.equal(long.at(-1)?.reason, "TimeToFirstTokenAboveSLA");
  assert.match(long.at(-1)?.message ?? "", /time to first token is 800ms, 60% above 500ms/);
});

test("requests that fail roll back, although nothing is known about their latency", () => {
  const all = states({}, {}, ...[0, 1, 2].map(() => ({ errorRate: 2.5, results: unknown })));
  assert.equal(all.at(-1)?.reason, "ErrorRateAboveMaximum");
  assert.equal(all.at(-1)?.message, "2.5% of the requests fail, more than 1%");
});

test("a step is not passed before its objectives are measured", () => {
  const all = states(after(0), after(1), after(30, { results: unknown }), after(31, { results: fast }));
  assert.deepEqual(words(all).slice(-2), ["Analyzing 0", "Starting 1"]);
});

test("replicas that are not ready in time, or crash, roll back with the cause", () => {
  const problem = { reason: "NoRoom", message: "a pod cannot be scheduled" };
  const late = states(after(0), after(39, { readyReplicas: 1, problem }), after(40, { readyReplicas: 1, problem }));
  assert.deepEqual(words(late), ["Starting 0", "Starting 0", "RolledBack 0"]);
  assert.equal(late.at(-1)?.message, "1 of 2 replicas were ready after 40m0s: a pod cannot be scheduled");
  const crashing = states({}, {}, { isCrashing: true });
  assert.equal(crashing.at(-1)?.reason, "ContainerCrashes");
});

test("replicas that are lost begin the step again, with the whole deadline", () => {
  const lost = { readyReplicas: 1 };
  const all = states(after(0), after(1), after(60, lost), after(61, lost), after(62), after(66), after(67));
  assert.deepEqual(words(all).slice(2), ["Starting 0", "Starting 0", "Analyzing 0", "Analyzing 0", "Starting 1"]);
});

test("a model at zero replicas waits, however long", () => {
  const all = states(after(0), after(1), after(2, { replicas: 0, readyReplicas: 0 }), after(500, { readyReplicas: 0 }));
  assert.equal(all[2]?.since, undefined);
  assert.deepEqual(words(all).slice(2), ["Starting 0", "Starting 0"]);
  assert.equal(all[3]?.since, "2026-01-01T08:20:00Z");
});

test("what was rolled back stays so until the revision changes", () => {
  const all = states({}, {}, { isCrashing: true }, after(500), after(501, { revision: "c" }));
  assert.deepEqual(words(all).slice(2), ["RolledBack 0", "RolledBack 0", "Starting 0"]);
  assert.equal(all.at(-1)?.reason, undefined);
});
