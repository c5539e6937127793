import assert from "node:assert/strict";
import { installForeignKind, type Scenario, supplyVolumes } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator, volcano } from "@konverge/training-operator";
import { PersistentVolumeClaim, Pod } from "konverge/kinds";
import { inDefaultScheduler, plugins } from "./gang-scheduling-scenarios.ts";
import { endAll, endWorker, job, podsOf, statusOf, untilPhase } from "./jobs.ts";

/** Nearly everything that the operator writes: children, a claim, a PodGroup, a restart, a finished worker, the end. */
export const aFullLife: Scenario = async (stage) => {
  await supplyVolumes(stage, "1Gi");
  await installForeignKind(stage, plugins.kind);
  await stage.start(trainingOperator, inDefaultScheduler);
  await stage.apply(
    job("life", {
      hyperparameters: { depth: 3 },
      checkpointDir: "/c",
      checkpointVolume: { size: "1Gi" },
      cleanPodPolicy: "All",
    }),
  );
  await untilPhase(stage, "life", "Running");
  await endWorker(stage, "life-worker-1", 137, { message: "killed" });
  await stage.until("it has restarted", async () => {
    const status = await statusOf(stage, "life");
    return status.restarts === 1 && status.phase === "Running";
  });
  await endWorker(stage, "life-worker-1", 0);
  await stage.until("one worker has succeeded", async () => (await statusOf(stage, "life")).succeeded === 1);
  await stage.client.delete(Pod, `${stage.namespace}/life-worker-1`);
  await endAll(stage, "life");
  await untilPhase(stage, "life", "Succeeded");
  await stage.until("it is cleaned up", async () => (await podsOf(stage, "life")).length === 0);
  assert.equal((await statusOf(stage, "life")).restarts, 1);
};

/** An elastic job, suspended and resumed, that is deleted with its checkpoints. */
export const anElasticLife: Scenario = async (stage) => {
  await supplyVolumes(stage, "1Gi");
  await stage.start(trainingOperator);
  await stage.apply(
    job("bends", {
      elastic: { minWorkers: 1, maxWorkers: 3 },
      checkpointDir: "/c",
      checkpointVolume: { size: "1Gi", onDelete: "Delete" },
    }),
  );
  await stage.until("all run", async () => (await statusOf(stage, "bends")).active === 2);
  await endWorker(stage, "bends-worker-1", 1);
  await stage.until("it is replaced", async () => {
    const status = await statusOf(stage, "bends");
    return status.restarts === 1 && status.active === 2;
  });
  const patch = (spec: object) =>
    stage.client.patch(TrainingJob, `${stage.namespace}/bends`, { merge: { spec } } as never);
  await patch({ suspend: true });
  await stage.until("it stops", async () => (await podsOf(stage, "bends")).length === 0);
  await patch({ suspend: false });
  await stage.until("it runs again", async () => (await statusOf(stage, "bends")).active === 2);
  await stage.client.delete(TrainingJob, `${stage.namespace}/bends`);
  await stage.until("all is gone", async () => {
    const left = [await stage.find(TrainingJob, "bends"), await stage.find(PersistentVolumeClaim, "bends-checkpoints")];
    return left.every((one) => !one) && (await podsOf(stage, "bends")).length === 0;
  });
};

/** What is needed once in a while: a job that deletes itself, a PodGroup that changes, a pod that lost its labels. */
export const theRest: Scenario = async (stage) => {
  await installForeignKind(stage, plugins.kind);
  await installForeignKind(stage, volcano.kind);
  await stage.start(trainingOperator, inDefaultScheduler);
  await stage.apply(job("grows", { ttlSecondsAfterFinished: 0 }));
  await untilPhase(stage, "grows", "Running");
  await stage.client.patch(TrainingJob, `${stage.namespace}/grows`, { merge: { spec: { workers: 3 } } });
  await stage.until("it has grown", async () => (await statusOf(stage, "grows")).active === 3);
  await stage.client.patch(Pod, `${stage.namespace}/grows-worker-1`, {
    merge: { metadata: { labels: { "ml.example.com/training-job": null } } },
  } as never);
  await stage.until("the gang is whole again", async () => {
    const status = await statusOf(stage, "grows");
    return status.attempt === 2 && status.active === 3;
  });
  await endAll(stage, "grows");
  await stage.until("it is gone", async () => !(await stage.find(TrainingJob, "grows")));
};

/** The same with a PodGroup of Volcano's. */
export const volcanoToo: Scenario = async (stage) => {
  await installForeignKind(stage, volcano.kind);
  await stage.start(trainingOperator, { settings: { gangScheduling: "volcano" } });
  await stage.apply(job("erupts", { scheduling: { schedulerName: "default-scheduler" } }));
  await untilPhase(stage, "erupts", "Running");
  await stage.client.patch(TrainingJob, `${stage.namespace}/erupts`, { merge: { spec: { workers: 3 } } });
  await stage.until("it has grown", async () => (await statusOf(stage, "erupts")).active === 3);
  await endAll(stage, "erupts");
  await untilPhase(stage, "erupts", "Succeeded");
  await stage.until("the PodGroup is gone", async () => !(await stage.find(volcano.kind, "erupts")));
};
