import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, type Condition, type KubeObject } from "@konverge/core";
import type { Pod, PodStatus } from "@konverge/kinds";
import { podProblem } from "./pod-problem.ts";
import { podCreationProblem, replicaFailureMessage } from "./refusal.ts";
import { workloadProblem } from "./replica-problem.ts";
import { problemConditions, reportProblem } from "./tell-problem.ts";

const pod = (status: PodStatus, name = "p"): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
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
const now = Date.UTC(2026, 0, 1, 0, 1);

test("pods that are on their way have no problem", () => {
  assert.equal(workloadProblem({ pods: [], now }), undefined);
  assert.equal(workloadProblem({ pods: [waiting("ContainerCreating"), pod({ phase: "Running" })], now }), undefined);
});

test("pods that are on their way out, or done, have no problem", () => {
  const failing = waiting("ErrImagePull");
  const leaving = { ...failing, metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  assert.equal(workloadProblem({ pods: [leaving], now }), undefined);
  assert.equal(
    workloadProblem({ pods: [{ ...failing, status: { ...failing.status, phase: "Succeeded" } }], now }),
    undefined,
  );
  assert.equal(workloadProblem({ pods: [failing], now })?.reason, "ImageCannotBePulled");
});

test("an exceeded quota is distinguished from other refusals", () => {
  const refusal = 'pods "x" is forbidden: exceeded quota: gpus, requested: 1, used: 8, limited: 8';
  assert.equal(workloadProblem({ pods: [], now, creationError: refusal })?.reason, "QuotaExceeded");
  assert.equal(workloadProblem({ pods: [], now, creationError: "violates PodSecurity" })?.reason, "PodsRefused");
});

test("an image that cannot be pulled is named, however often it is tried", () => {
  const first = workloadProblem({ pods: [waiting("ErrImagePull", "not found")], now });
  const later = workloadProblem({
    pods: [waiting("ImagePullBackOff", 'Back-off pulling image "vllm:1": not found')],
    now,
  });
  assert.deepEqual(first, { reason: "ImageCannotBePulled", message: "the image vllm:1 cannot be pulled: not found" });
  assert.deepEqual(later, first);
});

test("a crashing container is reported with its last output", () => {
  const ended = { exitCode: 1, reason: "Error", message: "CUDA error: no device\n" };
  const crashing = pod({
    containerStatuses: [
      { ...container, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: ended } },
    ],
  });
  assert.deepEqual(workloadProblem({ pods: [crashing], now }), {
    reason: "ContainerCrashes",
    message: "the container model exits with code 1: CUDA error: no device",
  });
});

test("a container that ends again and again without a failure crashes too; one that ended well once does not", () => {
  const terminated = { exitCode: 0, reason: "Completed" };
  const looping = { ...container, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } };
  assert.equal(podProblem(pod({ containerStatuses: [looping] }))?.message, "the container model exits with code 0");
  assert.equal(podProblem(pod({ initContainerStatuses: [{ ...container, state: { terminated } }] })), undefined);
});

test("a container that runs again after a crash has a problem until it has started", () => {
  const terminated = { exitCode: 1, reason: "Error", message: "no memory", finishedAt: "2025-12-31T00:00:00Z" };
  const again = (more: object, conditions: PodStatus["conditions"] = []) =>
    pod({
      conditions,
      containerStatuses: [
        { ...container, restartCount: 1, state: { running: {} }, lastState: { terminated }, ...more },
      ],
    });
  const problem = (more: object) => workloadProblem({ pods: [again(more)], now })?.message;
  assert.equal(problem({ started: false }), "the container model exits with code 1: no memory");
  assert.equal(problem({ started: true }), undefined, "what ended a day ago is not why it is unready now");
  assert.equal(problem({ started: true, ready: true }), undefined);
  const lately = { ...terminated, finishedAt: "2026-01-01T00:00:30Z" };
  assert.match(problem({ started: true, lastState: { terminated: lately } })!, /no memory/);
  assert.equal(problem({ started: true, lastState: { terminated: { ...lately, exitCode: 0 } } }), undefined);
});

test("a container that fails again and again has a problem until it has been ready for ten minutes", () => {
  const terminated = { exitCode: 1, reason: "Error", finishedAt: "2026-01-01T00:00:00Z" };
  const status = (restartCount: number): PodStatus => ({
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:20Z" }],
    containerStatuses: [
      { ...container, ready: true, started: true, restartCount, state: { running: {} }, lastState: { terminated } },
    ],
  });
  const reason = (restarts: number, at: number) => workloadProblem({ pods: [pod(status(restarts))], now: at })?.reason;
  assert.equal(reason(2, now), "ContainerCrashes");
  assert.equal(reason(1, now), undefined, "once is no series");
  assert.equal(reason(2, now + 10 * 60_000), undefined);
});

test("a missing node or volume is a problem only when it lasts", () => {
  for (const [message, reason] of [
    ["0/6 nodes are available: 6 Insufficient nvidia.com/gpu.", "NoRoom"],
    ["0/6 nodes are available: pod has unbound immediate PersistentVolumeClaims.", "ClaimUnbound"],
  ] as const) {
    const pods = [unschedulable(message)];
    assert.equal(workloadProblem({ pods, now })?.reason, reason);
    assert.equal(workloadProblem({ pods, now: now - 40_000 }), undefined, "it may be on its way");
    assert.equal(workloadProblem({ pods, now: now - 40_000, gracePeriod: 0 })?.reason, reason);
  }
});

test("a claim that is missing is named at once", () => {
  const pods = [unschedulable('0/6 nodes are available: persistentvolumeclaim "weights" not found.')];
  const expected = "there is no PersistentVolumeClaim weights in this namespace";
  assert.equal(workloadProblem({ pods, now: now - 60_000 })?.message, expected);
});

test("of several problems the most specific is reported, whichever pod has it", () => {
  const full = unschedulable("0/6 nodes are available: 6 Insufficient cpu.");
  const crashing = waiting("CrashLoopBackOff");
  assert.equal(
    workloadProblem({ pods: [full, crashing, waiting("InvalidImageName")], now })?.reason,
    "ImageCannotBePulled",
  );
  assert.equal(workloadProblem({ pods: [full, crashing], now })?.reason, "ContainerCrashes");
});

test("a problem says which pod and which container it is about, and what the cluster said", () => {
  assert.deepEqual(podProblem(waiting("CreateContainerConfigError", 'secret "s" not found')), {
    reason: "ContainerCannotStart",
    message: 'the container cannot be started: secret "s" not found',
    pod: "p",
    container: { name: "model", image: "vllm:1" },
    reported: { reason: "CreateContainerConfigError", message: 'secret "s" not found' },
  });
});

test("a workload's refusal is read from its condition, as long as that holds", () => {
  const workload = (status: string) =>
    ({
      kind: "Deployment",
      metadata: {},
      status: { conditions: [{ type: "ReplicaFailure", status, message: "no" }] },
    }) as unknown as KubeObject;
  assert.equal(replicaFailureMessage(workload("True")), "no");
  assert.equal(replicaFailureMessage(workload("False")), undefined);
  assert.equal(replicaFailureMessage(undefined), undefined);
});

test("of refused requests, those that users can fix are problems", () => {
  const answer = (code: number, reason: string, message: string) => new ApiError({ code, reason, message });
  const quota = answer(403, "Forbidden", 'pods "w-0" is forbidden: exceeded quota: q');
  assert.deepEqual(podCreationProblem(quota, "w-0"), {
    reason: "QuotaExceeded",
    message: 'w-0 cannot be created: pods "w-0" is forbidden: exceeded quota: q',
  });
  assert.equal(podCreationProblem(answer(403, "Forbidden", "violates PodSecurity"), "w-0")?.reason, "PodForbidden");
  assert.equal(podCreationProblem(answer(422, "Invalid", "bad"), "w-0")?.reason, "PodInvalid");
  const notAllowed = answer(403, "Forbidden", 'User "u" cannot create resource "pods"');
  assert.equal(podCreationProblem(notAllowed, "w-0"), undefined);
  assert.equal(podCreationProblem(answer(500, "InternalError", "etcd"), "w-0"), undefined);
  assert.equal(podCreationProblem(new Error("socket"), "w-0"), undefined);
});

test("a problem is reported once, and again when it changes", () => {
  const problem = { reason: "NoRoom", message: "a pod cannot be scheduled" };
  const told: string[] = [];
  const events = { normal() {}, warning: (reason: string) => void told.push(reason) };
  const { Degraded, Ready } = problemConditions(problem);
  assert.deepEqual([Ready?.status, Degraded?.status], ["False", "True"]);
  const about = (conditions: Partial<Condition>[]) =>
    ({ apiVersion: "v1", kind: "X", metadata: { name: "x" }, status: { conditions } }) as unknown as KubeObject;
  reportProblem(about([]), problem, events);
  reportProblem(about([{ type: "Degraded", status: "True", reason: "NoRoom" }]), problem, events);
  reportProblem(about([{ type: "Degraded", status: "False", reason: "AsExpected" }]), undefined, events);
  assert.deepEqual(told, ["NoRoom"]);
  reportProblem(about([{ type: "Degraded", status: "True", reason: "ClaimMissing" }]), problem, events);
  assert.deepEqual(told, ["NoRoom", "NoRoom"]);
});
