import assert from "node:assert/strict";
import type { Scenario } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { Node, Pod, Service } from "konverge/kinds";
import { endAll, endWorker, envOf, job, namesOf, podsOf, statusOf, untilPhase } from "./jobs.ts";

/** Two workers fail at the same time: one restart of all of them, counted once, and the first cause is reported. */
export const theGangRestartsOnce: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("gang", { workers: 3 }));
  await untilPhase(stage, "gang", "Running");
  const first = await podsOf(stage, "gang");
  await endWorker(stage, "gang-worker-2", 137, { reason: "OOMKilled", message: "CUDA out of memory" });
  await endWorker(stage, "gang-worker-1", 1, { message: "NCCL: connection reset by peer", secondsLater: 2 });
  await stage.until("it has restarted", async () => (await statusOf(stage, "gang")).restarts === 1);
  await untilPhase(stage, "gang", "Running");
  const { attempt, restarts, failure } = await statusOf(stage, "gang");
  assert.deepEqual([attempt, restarts], [1, 1]);
  assert.equal(failure?.attempt, 0);
  const { podName, workerId, exitCode, signal, reason, message } = failure!;
  assert.deepEqual(
    [podName, workerId, exitCode, signal, reason, message],
    ["gang-worker-2", 2, 137, 9, "OOMKilled", "CUDA out of memory"],
  );
  const second = await podsOf(stage, "gang");
  assert.deepEqual(namesOf(second), namesOf(first));
  for (const [index, pod] of second.entries()) assert.notEqual(pod.metadata.uid, first[index]!.metadata.uid);
  assert.equal(await stage.condition(TrainingJob, "gang", "Restarting"), "False NotRestarting");
  await endAll(stage, "gang");
  await untilPhase(stage, "gang", "Succeeded");
  assert.equal((await statusOf(stage, "gang")).restarts, 1);
};

/** After `backoffLimit` restarts the job fails, and says why. */
export const theBackOffLimitIsReached: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("hopeless", { backoffLimit: 1, cleanPodPolicy: "All" }));
  for (const attempt of [0, 1]) {
    await stage.until(`attempt ${attempt} runs`, async () => {
      const status = await statusOf(stage, "hopeless");
      return status.phase === "Running" && status.attempt === attempt;
    });
    await endWorker(stage, "hopeless-worker-0", 2, { message: "ImportError: no module named mnist" });
  }
  await untilPhase(stage, "hopeless", "Failed");
  assert.equal(await stage.condition(TrainingJob, "hopeless", "Failed"), "True BackoffLimitExceeded");
  const { restarts, failure, completionTime } = await statusOf(stage, "hopeless");
  assert.deepEqual([restarts, failure?.exitCode, failure?.message], [1, 2, "ImportError: no module named mnist"]);
  assert.ok(completionTime);
  const events = await stage.events(TrainingJob, "hopeless");
  assert.ok(
    events.some((event) => /^Warning BackoffLimitExceeded .*exit code 2.*ImportError/.test(event)),
    events.join("\n"),
  );
};

/** restartPolicy ExitCode: a program that says no is believed, one that was killed is started again. */
export const exitCodesDecide: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("coded", { restartPolicy: "ExitCode" }));
  await untilPhase(stage, "coded", "Running");
  await endWorker(stage, "coded-worker-1", 143);
  await stage.until("it has restarted", async () => {
    const status = await statusOf(stage, "coded");
    return status.restarts === 1 && status.phase === "Running";
  });
  await endWorker(stage, "coded-worker-1", 3);
  await untilPhase(stage, "coded", "Failed");
  assert.equal(await stage.condition(TrainingJob, "coded", "Failed"), "True PermanentExitCode");
  assert.equal((await statusOf(stage, "coded")).restarts, 1);
};

/** A worker that is deleted, and one that is evicted, restart the gang without using up the limit. */
export const disruptionsAreNotFailures: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("moved", { backoffLimit: 0 }));
  await untilPhase(stage, "moved", "Running");
  await stage.client.delete(Pod, `${stage.namespace}/moved-worker-1`);
  await stage.until("it has restarted", async () => {
    const status = await statusOf(stage, "moved");
    return status.disruptions === 1 && status.phase === "Running";
  });
  await stage.client.patchStatus(Pod, `${stage.namespace}/moved-worker-0`, {
    merge: { status: { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." } },
  });
  await stage.until("it has restarted again", async () => {
    const status = await statusOf(stage, "moved");
    return status.disruptions === 2 && status.phase === "Running";
  });
  const { restarts, attempt, failure } = await statusOf(stage, "moved");
  assert.deepEqual([restarts, attempt, failure?.reason], [0, 2, "Evicted"]);
};

/** The node of a worker falls silent: its pod never ends, and the gang restarts without it. */
export const aLostNodeDoesNotBlock: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("survives", { backoffLimit: 0 }));
  await untilPhase(stage, "survives", "Running");
  const lost = await stage.get(Pod, "survives-worker-1");
  const annotations = { "sim.konverge.dev/kubelet": "stopped" };
  await stage.client.patch(Node, lost.spec!.nodeName!, { merge: { metadata: { annotations } } as never });
  await stage.until(
    "the next gang runs",
    async () => {
      const { phase, attempt } = await statusOf(stage, "survives");
      return phase === "Running" && attempt === 1;
    },
    900_000,
  );
  const { restarts, disruptions, workerStatuses } = await statusOf(stage, "survives");
  assert.deepEqual([restarts, disruptions, workerStatuses?.length], [0, 1, 2]);
  const stuck = await stage.get(Pod, "survives-worker-1");
  assert.equal(stuck.metadata.uid, lost.metadata.uid);
  const heir = (await podsOf(stage, "survives")).find(({ metadata, spec }) => {
    return spec?.hostname === "survives-worker-1" && metadata.uid !== lost.metadata.uid;
  });
  assert.match(heir?.metadata.name ?? "", /^survives-worker-1-/);
  const service = await stage.get(Service, "survives-workers");
  assert.equal(service.spec?.selector?.["ml.example.com/attempt"], "1");
};

/** The pods of finished workers are deleted while another still trains: nothing restarts, and their success counts. */
export const finishedWorkersAreRemembered: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("uneven", { workers: 4, restartPolicy: "Never" }));
  await untilPhase(stage, "uneven", "Running");
  const [chief] = await podsOf(stage, "uneven");
  for (const index of [1, 2, 3]) await endWorker(stage, `uneven-worker-${index}`, 0);
  await stage.until("three have succeeded", async () => (await statusOf(stage, "uneven")).succeeded === 3);
  for (const index of [1, 2]) await stage.client.delete(Pod, `${stage.namespace}/uneven-worker-${index}`);
  await stage.settled();
  const { phase, attempt, active, succeeded, workerStatuses } = await statusOf(stage, "uneven");
  assert.deepEqual([phase, attempt, active, succeeded], ["Running", 0, 1, 3]);
  assert.deepEqual(
    workerStatuses?.map(({ workerId, status }) => `${workerId} ${status}`),
    ["0 Running", "1 Succeeded", "2 Succeeded", "3 Succeeded"],
  );
  assert.equal((await stage.get(Pod, "uneven-worker-0")).metadata.uid, chief!.metadata.uid);
  await endWorker(stage, "uneven-worker-0", 0);
  await untilPhase(stage, "uneven", "Succeeded");
  const events = await stage.events(TrainingJob, "uneven");
  assert.ok(
    events.some((event) => event.includes("4 of 4 workers have succeeded")),
    events.join("\n"),
  );
};

/** What finished in one gang does not count in the next. */
export const aNewGangRunsInFull: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("again", { workers: 2 }));
  await untilPhase(stage, "again", "Running");
  await endWorker(stage, "again-worker-1", 0);
  await stage.until("one has succeeded", async () => (await statusOf(stage, "again")).succeeded === 1);
  await stage.client.delete(Pod, `${stage.namespace}/again-worker-1`);
  await stage.client.delete(Pod, `${stage.namespace}/again-worker-0`);
  await stage.until("the next gang runs", async () => {
    const status = await statusOf(stage, "again");
    return status.attempt === 1 && status.active === 2;
  });
  assert.equal((await statusOf(stage, "again")).succeeded, 0);
  await stage.client.patch(TrainingJob, `${stage.namespace}/again`, { merge: { spec: { suspend: true } } } as never);
  await stage.until("it is suspended", async () => (await podsOf(stage, "again")).length === 0);
};

/** restartPolicy Never: the first failure ends the job. */
export const oneTryOnly: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("once", { restartPolicy: "Never" }));
  await untilPhase(stage, "once", "Running");
  await endWorker(stage, "once-worker-0", 143);
  await untilPhase(stage, "once", "Failed");
  assert.equal(await stage.condition(TrainingJob, "once", "Failed"), "True WorkerFailed");
};

/** A changed spec starts a new gang, which is no failure; a changed size is passed to all workers. */
export const aChangedSpecRestarts: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("edited", { workers: 2 }));
  await untilPhase(stage, "edited", "Running");
  const before = await podsOf(stage, "edited");
  await stage.client.patch(TrainingJob, `${stage.namespace}/edited`, {
    merge: { spec: { workers: 3, image: "pytorch/pytorch:2.5.0" } },
  });
  await stage.until("the new gang runs", async () => {
    const status = await statusOf(stage, "edited");
    return status.attempt === 1 && status.phase === "Running";
  });
  const after = await podsOf(stage, "edited");
  assert.deepEqual(
    after.map((pod) => envOf(pod)["WORLD_SIZE"]),
    ["3", "3", "3"],
  );
  assert.ok(after.every(({ spec }) => spec!.containers[0]!.image === "pytorch/pytorch:2.5.0"));
  assert.ok(after.every(({ metadata }) => before.every((old) => old.metadata.uid !== metadata.uid)));
  const { restarts, disruptions } = await statusOf(stage, "edited");
  assert.deepEqual([restarts, disruptions], [0, 0]);
  // What concerns no pod disturbs none.
  await stage.client.patch(TrainingJob, `${stage.namespace}/edited`, {
    merge: { spec: { backoffLimit: 7, ttlSecondsAfterFinished: 600 } },
  });
  await stage.settled();
  assert.deepEqual(
    (await podsOf(stage, "edited")).map(({ metadata }) => metadata.uid),
    after.map(({ metadata }) => metadata.uid),
  );
};

/** An elastic job runs with fewer workers, replaces those it loses, and changes its size while it runs. */
export const anElasticJobBends: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("elastic", { workers: 3, elastic: { minWorkers: 2, maxWorkers: 4 }, backoffLimit: 2 }));
  await stage.until("all run", async () => (await statusOf(stage, "elastic")).active === 3);
  const [zero, one] = await podsOf(stage, "elastic");
  assert.equal(envOf(zero!)["PET_NNODES"], "2:4");
  assert.equal(envOf(zero!)["PET_MAX_RESTARTS"], "2");
  assert.equal(envOf(zero!)["RANK"], undefined);
  const uids = async () => (await podsOf(stage, "elastic")).map(({ metadata }) => metadata.uid);

  await endWorker(stage, "elastic-worker-2", 1);
  await stage.until("it is replaced", async () => {
    const status = await statusOf(stage, "elastic");
    return status.restarts === 1 && status.active === 3;
  });
  assert.deepEqual((await uids()).slice(0, 2), [zero!.metadata.uid, one!.metadata.uid]);
  assert.equal((await statusOf(stage, "elastic")).phase, "Running");

  await stage.client.scale(TrainingJob, `${stage.namespace}/elastic`, 4);
  await stage.until("it has grown", async () => (await statusOf(stage, "elastic")).active === 4);
  await stage.client.scale(TrainingJob, `${stage.namespace}/elastic`, 2);
  await stage.until("it has shrunk", async () => (await podsOf(stage, "elastic")).length === 2);
  assert.deepEqual(await uids(), [zero!.metadata.uid, one!.metadata.uid]);
  await assert.rejects(
    stage.client.scale(TrainingJob, `${stage.namespace}/elastic`, 5),
    /within the bounds of elastic/,
  );

  await endAll(stage, "elastic");
  await untilPhase(stage, "elastic", "Succeeded");
};
