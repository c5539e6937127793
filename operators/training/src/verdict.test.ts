import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleJob, examplePod } from "../test/example-job.ts";
import { creatable, gangOf } from "./gang.ts";
import { podState } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";
import { judge, restartDelay, restartTime } from "./verdict.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const running = { phase: "Running", startTime: "2026-01-01T00:30:00Z", attempt: 0 } as const;

const gang = (job: TrainingJob, pods: readonly ReturnType<typeof examplePod>[]) =>
  gangOf(
    job,
    pods.map((pod) => podState(pod)!),
    "h",
  );
const verdict = (job: TrainingJob, pods: readonly ReturnType<typeof examplePod>[], now = NOW) => {
  const { type, ...rest } = judge(job, gang(job, pods), now) as { type: string; why?: string; reason?: string };
  return [type, rest.why ?? rest.reason].filter(Boolean).join(" ");
};
const done = (index: number) => examplePod(index, { phase: "Succeeded", exitCode: 0 });
const failed = (index: number, exitCode = 1) => examplePod(index, { phase: "Failed", exitCode });

test("a job goes on while its workers do", () => {
  assert.equal(verdict(exampleJob({}, running), [examplePod(0), examplePod(1)]), "go-on");
  assert.equal(verdict(exampleJob({}, running), [done(0), examplePod(1)]), "go-on");
});

test("it has succeeded when all workers have, or the chief has, or the remaining workers of an elastic job have", () => {
  assert.equal(verdict(exampleJob(), [done(0), done(1)]), "succeeded");
  assert.equal(verdict(exampleJob({ successPolicy: "Chief" }), [done(0), examplePod(1)]), "succeeded");
  assert.equal(verdict(exampleJob({ successPolicy: "Chief" }, running), [examplePod(0), done(1)]), "go-on");
  const elastic = exampleJob({ elastic: { minWorkers: 1, maxWorkers: 2 } }, running);
  assert.equal(verdict(elastic, [done(0), examplePod(1, { phase: "Pending" })]), "succeeded");
  assert.equal(verdict(elastic, [done(0), examplePod(1)]), "go-on");
});

test("a failed worker restarts the gang until the limit is reached", () => {
  assert.equal(verdict(exampleJob({}, running), [failed(0), examplePod(1)]), "restart failure");
  const last = exampleJob({ backoffLimit: 2 }, { ...running, restarts: 2 });
  assert.equal(verdict(last, [failed(0), examplePod(1)]), "failed BackoffLimitExceeded");
  assert.equal(verdict(exampleJob({ restartPolicy: "Never" }), [failed(0)]), "failed WorkerFailed");
});

test("the failure of a parameter server is one of the gang; its end is not a success", () => {
  const job = exampleJob({ framework: "tensorflow", parameterServers: { count: 1 } }, running);
  const ps = (facts: object) => examplePod(0, { role: "ps", ...facts });
  assert.equal(verdict(job, [examplePod(0), examplePod(1), ps({ phase: "Failed", exitCode: 1 })]), "restart failure");
  assert.equal(verdict(job, [examplePod(0), examplePod(1), ps({ phase: "Succeeded", exitCode: 0 })]), "go-on");
  assert.equal(verdict(job, [done(0), done(1), ps({})]), "succeeded");
});

test("exit codes below 128 are the program's own word, those above a signal's", () => {
  const job = exampleJob({ restartPolicy: "ExitCode" }, running);
  for (const code of [1, 2, 127])
    assert.equal(verdict(job, [failed(0, code), examplePod(1)]), "failed PermanentExitCode");
  for (const code of [128, 137, 255]) assert.equal(verdict(job, [failed(0, code), examplePod(1)]), "restart failure");
});

test("disruptions do not use up the limit", () => {
  const job = exampleJob({ backoffLimit: 0 }, running);
  const evicted = examplePod(0, { status: { phase: "Failed", reason: "Evicted" } });
  assert.equal(verdict(job, [evicted, examplePod(1)]), "restart disruption");
  assert.equal(verdict(job, [examplePod(1)]), "restart disruption");
  assert.equal(verdict(exampleJob({ restartPolicy: "Never" }, running), [examplePod(1)]), "failed WorkerLost");
});

test("a worker that has finished still counts when its pod is deleted", () => {
  const finished = [{ workerId: 1, podName: "mnist-worker-1", finishedAt: "2026-01-01T00:50:00Z" }];
  const status = { ...running, finishedWorkers: finished };
  assert.equal(verdict(exampleJob({}, status), [examplePod(0)]), "go-on");
  assert.equal(verdict(exampleJob({ restartPolicy: "Never" }, status), [examplePod(0)]), "go-on");
  assert.equal(verdict(exampleJob({}, status), [done(0)]), "succeeded");
  assert.equal(verdict(exampleJob({ successPolicy: "Chief" }, status), [examplePod(0)]), "go-on");
  // One that has not finished is lost, as before.
  assert.equal(verdict(exampleJob({ workers: 3 }, status), [examplePod(0)]), "restart disruption");
});

test("a finished worker whose pod is being deleted is neither recreated nor the cause of a failure", () => {
  const job = exampleJob({}, running);
  const ending = examplePod(1, { phase: "Succeeded", exitCode: 0, deleting: true, finishedAt: "2026-01-01T00:59:58Z" });
  assert.equal(verdict(job, [examplePod(0), ending]), "go-on");
  assert.deepEqual(creatable(job, gang(job, [examplePod(0), ending]), NOW), []);
  const peer = examplePod(0, { phase: "Failed", exitCode: 1, finishedAt: "2026-01-01T00:59:59Z" });
  assert.equal(verdict(job, [peer, ending]), "restart failure");
});

test("before all have run, a missing worker is simply made", () => {
  const job = exampleJob({}, { phase: "Pending", attempt: 0 });
  assert.equal(verdict(job, [examplePod(1)]), "go-on");
  assert.deepEqual(creatable(job, gang(job, [examplePod(1)]), NOW), [{ role: "worker", index: 0, attempt: 0 }]);
});

test("failures of an earlier gang, or of pods on their way out, are not counted again", () => {
  const job = exampleJob({}, { ...running, phase: "Pending", attempt: 1 });
  assert.equal(verdict(job, [failed(0), failed(1)]), "go-on");
  assert.equal(verdict(job, [examplePod(0, { phase: "Failed", exitCode: 1, deleting: true })]), "go-on");
});

test("no worker of the next gang is made while one of the last is left", () => {
  const job = exampleJob({}, { ...running, phase: "Pending", attempt: 1 });
  const ends = examplePod(0, { deleting: true, finishedAt: "2026-01-01T01:00:00Z" });
  assert.deepEqual(creatable(job, gang(job, [ends]), NOW), []);
  assert.deepEqual(creatable(job, gang(job, [failed(1)]), NOW), []);
  assert.equal(creatable(job, gang(job, []), NOW).length, 2);
});

test("a pod that does not end, since its node is lost, does not hold up the next gang", () => {
  const job = exampleJob({}, { ...running, phase: "Pending", attempt: 1 });
  const stuck = examplePod(0, { deleting: true, finishedAt: "2026-01-01T00:58:00Z" });
  assert.equal(creatable(job, gang(job, [stuck]), NOW).length, 2);
});

test("a peer that lost its connection is not blamed for the worker that was killed", () => {
  const job = exampleJob({ restartPolicy: "ExitCode" }, running);
  const at = (second: number) => `2026-01-01T00:59:${second}Z`;
  const peer = examplePod(0, { phase: "Failed", exitCode: 1, finishedAt: at(58) });
  const killed = examplePod(1, { phase: "Failed", exitCode: 137, finishedAt: at(59) });
  // Its node has not reported it yet.
  assert.equal(verdict(job, [peer, examplePod(1)]), "go-on");
  assert.equal(verdict(job, [peer, killed]), "restart failure");
  assert.equal(verdict(job, [peer, examplePod(1)], NOW + 10_000), "failed PermanentExitCode");
  // A worker that is being deleted was lost, whatever its peers say.
  const deleted = examplePod(1, { deleting: true, finishedAt: at(58) });
  assert.equal(verdict(exampleJob({}, running), [peer, deleted]), "restart disruption");
});

test("pods of another spec cause a restart; surplus pods do not", () => {
  const other = [examplePod(0, { hash: "x" }), examplePod(1, { hash: "x" })];
  assert.equal(verdict(exampleJob({}, running), other), "restart change");
  const elastic = exampleJob({ workers: 1, elastic: { minWorkers: 1, maxWorkers: 2 } }, running);
  assert.equal(verdict(elastic, [examplePod(0), examplePod(1)]), "go-on");
  assert.deepEqual(
    gang(elastic, [examplePod(0), examplePod(1)]).obsolete.map(({ index }) => index),
    [1],
  );
});

test("a worker of an elastic job is replaced alone, and each failure is counted once", () => {
  const job = exampleJob({ elastic: { minWorkers: 1, maxWorkers: 2 } }, running);
  assert.equal(verdict(job, [examplePod(0), failed(1)]), "replace failure");
  const failure = { podName: "mnist-worker-1", podUid: "worker-1-0", attempt: 0, reason: "Error", time: "" };
  const counted = { ...job, status: { ...running, restarts: 1, failure } };
  assert.equal(verdict(counted, [examplePod(0), failed(1)]), "go-on");
  assert.deepEqual(
    gang(counted, [examplePod(0), failed(1)]).obsolete.map(({ index }) => index),
    [1],
  );
  assert.equal(verdict(job, [examplePod(0)]), "go-on");
});

test("activeDeadlineSeconds counts from the start of the training, startDeadlineSeconds from the creation", () => {
  const active = exampleJob({ activeDeadlineSeconds: 1800 }, running);
  assert.equal(verdict(active, [examplePod(0), examplePod(1)]), "failed DeadlineExceeded");
  assert.equal(verdict(active, [examplePod(0), examplePod(1)], NOW - 1000), "go-on");
  const start = exampleJob({ startDeadlineSeconds: 3600 }, { phase: "Pending" });
  assert.equal(verdict(start, []), "failed StartDeadlineExceeded");
  assert.equal(verdict(start, [], NOW - 1000), "go-on");
  const Suspended = {
    type: "Suspended",
    status: "False",
    reason: "",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:10Z",
  };
  const resumed = { ...start, status: { phase: "Pending" as const, conditions: [Suspended as never] } };
  assert.equal(verdict(resumed, []), "go-on");
  assert.equal(verdict(exampleJob({ startDeadlineSeconds: 1 }, running), [examplePod(0), examplePod(1)]), "go-on");
});

test("restarts wait longer and longer, up to five minutes", () => {
  const wait = (restarts: number) => restartDelay(exampleJob({}, { restarts }));
  assert.deepEqual([0, 1, 2, 3, 20].map(wait), [0, 10_000, 20_000, 40_000, 300_000]);
  const failure = { podName: "", podUid: "", attempt: 0, exitCode: 1, reason: "", time: "2026-01-01T00:00:00Z" };
  const restarted = exampleJob({}, { attempt: 1, restarts: 1, failure });
  assert.equal(restartTime(restarted), Date.parse("2026-01-01T00:00:10Z"));
  assert.equal(restartTime(exampleJob({}, { attempt: 3, restarts: 1, failure })), 0);
});
