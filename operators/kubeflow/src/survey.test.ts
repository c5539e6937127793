import assert from "node:assert/strict";
import { test } from "node:test";
import { boost, boostJob, flow, flowJob, mx, mxJob, pod, surveyed, torch, torchJob } from "../test/framework-jobs.ts";

test("pods that are not there are missing, those beyond the number are surplus", () => {
  const job = torchJob({ Master: {}, Worker: { replicas: 2 } });
  const found = surveyed(job, torch, [pod(torch, "worker", 0, "Running"), pod(torch, "worker", 2, "Running")]);
  assert.deepEqual(
    found.missing.map(({ replica, index }) => `${replica.type} ${index}`),
    ["Master 0", "Worker 1"],
  );
  assert.deepEqual(
    found.surplus.map(({ index }) => index),
    [2],
  );
  assert.equal(found.status.replicaStatuses?.["Worker"]?.active, 1);
});

test("a PyTorchJob with a master is as its master is", () => {
  const job = torchJob({ Master: {}, Worker: {} });
  const worker = pod(torch, "worker", 0, "Running");
  assert.equal(surveyed(job, torch, [worker]).state, undefined);
  assert.equal(surveyed(job, torch, [worker, pod(torch, "master", 0, "Running")]).state?.type, "Running");
  const done = surveyed(job, torch, [worker, pod(torch, "master", 0, "Succeeded", 0)]);
  assert.equal(done.state?.message, "PyTorchJob train is successfully completed.");
  assert.ok(done.status.completionTime);
});

test("without a master all workers decide; of an elastic job the first that is done", () => {
  const pods = [pod(torch, "worker", 0, "Succeeded", 0), pod(torch, "worker", 1, "Running")];
  assert.equal(surveyed(torchJob({ Worker: { replicas: 2 } }), torch, pods).state?.type, "Running");
  const elastic = torchJob({ Worker: { replicas: 2 } }, { elasticPolicy: {} });
  assert.equal(surveyed(elastic, torch, pods).state?.message, "PyTorchJob team/train successfully completed.");
});

test("a success is final, whatever else fails at the same time", () => {
  const job = flowJob({ Chief: {}, Worker: {} });
  const found = surveyed(job, flow, [pod(flow, "chief", 0, "Succeeded", 0), pod(flow, "worker", 0, "Failed", 1)]);
  assert.deepEqual(
    found.status.conditions?.map(({ type }) => type),
    ["Succeeded"],
  );
});

test("policies decide whether a failed pod is recreated or ends the job", () => {
  const outcome = (restartPolicy: "Never" | "OnFailure" | "Always" | "ExitCode", exitCode: number | undefined) => {
    const job = torchJob({ Master: {}, Worker: { restartPolicy } });
    const pods = [pod(torch, "master", 0, "Running"), pod(torch, "worker", 0, "Failed", exitCode)];
    const { state, restarts } = surveyed(job, torch, pods);
    return `${state?.type} ${restarts.length}`;
  };
  assert.equal(outcome("Never", 1), "Failed 0");
  assert.equal(outcome("OnFailure", 1), "Restarting 1");
  assert.equal(outcome("Always", 1), "Restarting 1");
  assert.equal(outcome("ExitCode", 1), "Failed 0");
  assert.equal(outcome("ExitCode", 127), "Failed 0");
  assert.equal(outcome("ExitCode", 128), "Restarting 1");
  assert.equal(outcome("ExitCode", undefined), "Restarting 1", "evicted: it did not end by itself");
});

test("a fatal exit code is reported once, with its time", () => {
  const job = boostJob({ Master: { restartPolicy: "ExitCode" } });
  const { events, status } = surveyed(job, boost, [pod(boost, "master", 0, "Failed", 2)]);
  const message = 'job "train" is failing because "Master" replica(s) failed.';
  assert.deepEqual(events, [{ type: "Warning", reason: "XGBoostJobFailed", message }]);
  assert.ok(status.completionTime);
});

test("a TFJob without a chief is done when its first worker is, unless all must be", () => {
  const pods = [pod(flow, "worker", 0, "Succeeded", 0), pod(flow, "worker", 1, "Running")];
  assert.equal(surveyed(flowJob({ Worker: { replicas: 2 } }), flow, pods).state?.type, "Succeeded");
  const all = flowJob({ Worker: { replicas: 2 } }, { successPolicy: "AllWorkers" });
  assert.equal(surveyed(all, flow, pods).state?.type, "Running");
  const odd = [pod(flow, "worker", 0, "Succeeded", 3), pod(flow, "worker", 1, "Running")];
  assert.equal(surveyed(flowJob({ Worker: { replicas: 2 } }), flow, odd).state?.type, "Running");
});

test("dynamic workers may fail", () => {
  const pods = [pod(flow, "ps", 0, "Running"), pod(flow, "worker", 0, "Running"), pod(flow, "worker", 1, "Failed", 1)];
  const given = { PS: {}, Worker: { replicas: 2 } };
  assert.equal(surveyed(flowJob(given), flow, pods).state?.type, "Failed");
  assert.equal(surveyed(flowJob(given, { enableDynamicWorker: true }), flow, pods).state?.type, "Running");
});

test("an MXJob is done when its scheduler is, a tuning when its tuner is", () => {
  const done = (type: string) => [pod(mx, type, 0, "Succeeded", 0)];
  assert.equal(surveyed(mxJob({ Scheduler: {}, Worker: {} }), mx, done("scheduler")).state?.type, "Succeeded");
  assert.equal(surveyed(mxJob({ Scheduler: {}, Worker: {} }), mx, done("worker")).state, undefined);
  assert.equal(surveyed(mxJob({ Worker: {} }), mx, done("worker")).state?.type, "Succeeded");
  const tuning = mxJob({ TunerTracker: {}, TunerServer: {}, Tuner: {} }, "MXTune");
  assert.equal(surveyed(tuning, mx, done("tuner")).state?.type, "Succeeded");
});

test("a second survey changes nothing and records no event", () => {
  const job = torchJob({ Master: {}, Worker: {} });
  const pods = [pod(torch, "master", 0, "Running"), pod(torch, "worker", 0, "Running")];
  const first = surveyed(job, torch, pods);
  const again = surveyed({ ...job, status: first.status }, torch, pods);
  assert.deepEqual(again.status, first.status);
  assert.deepEqual(again.events, []);
});
