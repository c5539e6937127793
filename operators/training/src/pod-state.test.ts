import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "konverge/kinds";
import { deepCopy } from "konverge/objects";
import { examplePod } from "../test/example-job.ts";
import { firstFailure, podState } from "./pod-state.ts";

test("a terminated pod has an exit code, a signal and a termination message", () => {
  const pod = examplePod(1, { phase: "Failed", exitCode: 137, reason: "OOMKilled", message: "out of memory\n" });
  assert.deepEqual(podState(pod)?.cause, {
    exitCode: 137,
    signal: 9,
    reason: "OOMKilled",
    message: "out of memory",
    time: "2026-01-01T00:10:00Z",
    isDisruption: false,
  });
});

test("only the end of a long message is kept: that is where the exception is", () => {
  const message = `${"x".repeat(2000)}\nValueError: bad batch`;
  const { cause } = podState(examplePod(0, { phase: "Failed", exitCode: 1, message }))!;
  assert.ok(cause!.message!.length <= 500);
  assert.match(cause!.message!, /^….*ValueError: bad batch$/s);
});

test("what the cluster ended is a disruption, whatever the exit code", () => {
  const evicted = examplePod(0, { status: { phase: "Failed", reason: "Evicted", message: "low on memory" } });
  const { isDisruption, reason, message } = podState(evicted)!.cause!;
  assert.deepEqual([isDisruption, reason, message], [true, "Evicted", "low on memory"]);
  const drained = deepCopy(examplePod(0, { phase: "Failed", exitCode: 143 }));
  drained.status!.conditions = [
    { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" },
  ];
  assert.equal(podState(drained)!.cause!.isDisruption, true);
  assert.equal(podState(drained)!.cause!.reason, "EvictionByEvictionAPI");
});

const pending = (status: Pod["status"]) =>
  podState(examplePod(0, { status: { phase: "Pending", ...status } }))?.obstacle;
const unscheduled = (message: string) =>
  pending({ conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }] });
const waiting = (reason: string) => {
  const container = { name: "trainer", image: "i:1", imageID: "", ready: false, restartCount: 0 };
  return pending({ containerStatuses: [{ ...container, state: { waiting: { reason, message: "m" } } }] });
};

test("the reason why a pod does not run is one word", () => {
  assert.equal(unscheduled("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")?.reason, "Unschedulable");
  const claim = unscheduled('0/3 nodes are available: persistentvolumeclaim "data" not found.');
  assert.deepEqual([claim?.reason, claim?.message], ["ClaimNotFound", "the claim data does not exist: create it"]);
  assert.equal(unscheduled("pod has unbound immediate PersistentVolumeClaims")?.reason, "VolumeProblem");
  assert.equal(waiting("ErrImagePull")?.message, waiting("ImagePullBackOff")?.message);
  assert.equal(waiting("ImagePullBackOff")?.reason, "ImagePullFailed");
  assert.equal(waiting("CreateContainerConfigError")?.reason, "ConfigError");
  assert.equal(waiting("ContainerCreating"), undefined);
});

test("a pod without its labels is ignored", () => {
  const pod = examplePod(0);
  assert.equal(podState({ ...pod, metadata: { ...pod.metadata, labels: {} } }), undefined);
});

test("the first failure is the one that ended first", () => {
  const at = (index: number, finishedAt: string) =>
    podState(examplePod(index, { phase: "Failed", exitCode: 1, finishedAt }))!;
  const pods = [at(0, "2026-01-01T00:00:09Z"), at(1, "2026-01-01T00:00:05Z"), at(2, "2026-01-01T00:00:05Z")];
  assert.equal(firstFailure(pods)?.index, 1);
  assert.equal(firstFailure([podState(examplePod(0))!]), undefined);
});

test("of failures at about the same time, the one from outside is the cause of the others", () => {
  const at = (index: number, second: number, exitCode: number) =>
    podState(examplePod(index, { phase: "Failed", exitCode, finishedAt: `2026-01-01T00:00:0${second}Z` }))!;
  assert.equal(firstFailure([at(0, 4, 1), at(1, 5, 137)])?.index, 1, "killed");
  assert.equal(firstFailure([at(0, 4, 1), at(1, 5, 134)])?.index, 0, "a program that aborts itself");
  assert.equal(firstFailure([at(0, 1, 1), at(1, 9, 137)])?.index, 0, "killed much later");
});
