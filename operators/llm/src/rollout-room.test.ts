import assert from "node:assert/strict";
import { test } from "node:test";
import type { Deployment, Pod } from "konverge/kinds";
import { ONE_BY_ONE, type RolloutFacts, rolloutProblem, rolloutStrategy, WITH_SPARE } from "./rollout-room.ts";

const begin = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const waiting = {
  metadata: { name: "p" },
  spec: { containers: [] },
  status: {
    conditions: [
      {
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message: "0/6 nodes are available: 6 Insufficient nvidia.com/gpu.",
        lastTransitionTime: new Date(begin).toISOString(),
      },
    ],
  },
} as unknown as Pod;
const deployment = (updatedReplicas: number, strategy = WITH_SPARE) =>
  ({
    metadata: { name: "d", generation: 2 },
    spec: { strategy },
    status: { observedGeneration: 2, replicas: 4, updatedReplicas },
  }) as unknown as Deployment;
const facts = (minutes: number, more: Partial<RolloutFacts> = {}): RolloutFacts => ({
  spec: { replicas: 3 },
  live: deployment(1),
  pods: [waiting],
  now: begin + minutes * MINUTE,
  ...more,
});

test("a rollout that has found no room for minutes replaces one replica at a time, until all are replaced", () => {
  assert.equal(rolloutStrategy(facts(4)), WITH_SPARE, "a node may be on its way");
  assert.equal(rolloutStrategy(facts(5)), ONE_BY_ONE);
  assert.equal(rolloutStrategy(facts(0, { live: deployment(2, ONE_BY_ONE), pods: [] })), ONE_BY_ONE, "it goes on");
  assert.equal(rolloutStrategy(facts(9, { live: deployment(4, ONE_BY_ONE) })), WITH_SPARE, "it is done");
  assert.equal(rolloutStrategy(facts(9, { live: undefined })), WITH_SPARE);
});

test("a single replica is not ended for its successor unless that is requested", () => {
  assert.equal(rolloutStrategy(facts(9, { spec: { replicas: 1 } })), WITH_SPARE);
  assert.equal(rolloutStrategy(facts(9, { spec: { replicas: 1, rollout: { withoutRoom: "Replace" } } })), ONE_BY_ONE);
  assert.equal(rolloutStrategy(facts(9, { spec: { replicas: 3, rollout: { withoutRoom: "Wait" } } })), WITH_SPARE);
});

test("a rollout without room reports what follows from that", () => {
  const problem = { reason: "NoRoom", message: "a pod cannot be scheduled: 6 Insufficient nvidia.com/gpu." };
  assert.match(
    rolloutProblem(problem, facts(1))!.message,
    /gpu; if there is no room for 5 minutes, the rollout replaces one/,
  );
  assert.match(rolloutProblem(problem, facts(1, { spec: { replicas: 1 } }))!.message, /set rollout\.withoutRoom to/);
  assert.equal(rolloutProblem(problem, facts(1, { live: deployment(4) })), problem);
});
