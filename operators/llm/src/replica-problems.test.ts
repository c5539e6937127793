import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodStatus } from "konverge/kinds";
import { problemOf } from "./replica-problems.ts";

const pod = (status: PodStatus): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: { containers: [] },
  status,
});
const container = { name: "model", image: "vllm:1", imageID: "", ready: false, restartCount: 3 };
const waiting = (reason: string, message = "") =>
  pod({ containerStatuses: [{ ...container, state: { waiting: { reason, message } } }] });
const unschedulable = (message: string) =>
  pod({
    conditions: [
      {
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  });
const offered = ["A100", "H100"];
const now = Date.UTC(2026, 0, 1, 0, 1);

test("pods that are on their way have no problem", () => {
  assert.equal(problemOf({ pods: [], offered, now }), undefined);
  assert.equal(problemOf({ pods: [waiting("ContainerCreating"), pod({ phase: "Running" })], offered, now }), undefined);
});

test("a quota is told from other refusals", () => {
  const refusal = 'pods "x" is forbidden: exceeded quota: gpus, requested: 1, used: 8, limited: 8';
  assert.equal(problemOf({ pods: [], offered, now, refusal })?.reason, "QuotaExceeded");
  assert.equal(problemOf({ pods: [], offered, now, refusal: "violates PodSecurity" })?.reason, "PodsRefused");
});

test("an image that cannot be pulled is named, however often it is tried", () => {
  const first = problemOf({ pods: [waiting("ErrImagePull", "not found")], offered, now });
  const later = problemOf({
    pods: [waiting("ImagePullBackOff", 'Back-off pulling image "vllm:1": not found')],
    offered,
    now,
  });
  assert.deepEqual(first, { reason: "ImageCannotBePulled", message: "the image vllm:1 cannot be pulled: not found" });
  assert.deepEqual(later, first);
});

test("a server that crashes is told with its last words", () => {
  const ended = { exitCode: 1, reason: "Error", message: "CUDA error: no device\n" };
  const crashing = pod({
    containerStatuses: [
      { ...container, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: ended } },
    ],
  });
  assert.deepEqual(problemOf({ pods: [crashing], offered, now }), {
    reason: "ServerCrashes",
    message: "the container model exits with code 1: CUDA error: no device",
  });
});

test("a server that runs again after a crash has no problem", () => {
  const ended = { exitCode: 1, reason: "Error" };
  const running = pod({
    containerStatuses: [{ ...container, state: { running: {} }, lastState: { terminated: ended } }],
  });
  assert.equal(problemOf({ pods: [running], offered, now }), undefined);
});

test("a type of GPU that no node has is told from one that is all in use", () => {
  const pods = [unschedulable("0/6 nodes are available: 6 node(s) didn't match Pod's node affinity/selector.")];
  assert.deepEqual(problemOf({ pods, offered, now, gpuType: "B200" }), {
    reason: "UnknownGpuType",
    message: "no node has GPUs of the type B200: there are A100, H100",
  });
  const full = [unschedulable("0/6 nodes are available: 6 Insufficient nvidia.com/gpu.")];
  assert.equal(problemOf({ pods: full, offered, now, gpuType: "H100" })?.reason, "NoRoom");
  assert.equal(
    problemOf({ pods: full, offered, now: now - 40_000, gpuType: "H100" }),
    undefined,
    "a node may be on its way",
  );
});

test("a claim that is missing is named", () => {
  const pods = [unschedulable('0/6 nodes are available: persistentvolumeclaim "weights" not found.')];
  assert.equal(
    problemOf({ pods, offered, now })?.message,
    "there is no PersistentVolumeClaim weights in this namespace",
  );
});
