import assert from "node:assert/strict";
import { installForeignKind, type Scenario } from "@konverge/operator-suite";
import { schedulerPlugins, TrainingJob, trainingOperator, volcano } from "@konverge/training-operator";
import { endAll, job, podsOf, statusOf, untilPhase } from "./jobs.ts";

/** The coscheduling plugin in the cluster's own scheduler. */
export const inDefaultScheduler = { settings: { gangSchedulerName: "default-scheduler" } };
export const plugins = schedulerPlugins("default-scheduler");

/** The workers' PodGroup, as the coscheduling plugin reads it: made before them, changed with them, gone after them. */
export const aPodGroupIsKept: Scenario = async (stage) => {
  await installForeignKind(stage, plugins.kind);
  await stage.start(trainingOperator, inDefaultScheduler);
  await stage.apply(job("together", { workers: 2 }));
  await untilPhase(stage, "together", "Running");
  const group = await stage.get(plugins.kind, "together");
  assert.equal(group.spec.minMember, 2);
  assert.equal(group.metadata.ownerReferences?.[0]?.kind, "TrainingJob");
  for (const { metadata } of await podsOf(stage, "together")) {
    assert.equal(metadata.labels?.["scheduling.x-k8s.io/pod-group"], "together");
  }
  assert.deepEqual((await statusOf(stage, "together")).podGroup, { scheduler: "scheduler-plugins", name: "together" });
  await stage.client.patch(TrainingJob, `${stage.namespace}/together`, { merge: { spec: { workers: 3 } } });
  await stage.until("the gang has grown", async () => {
    const status = await statusOf(stage, "together");
    return status.active === 3 && (await stage.get(plugins.kind, "together")).spec.minMember === 3;
  });
  await endAll(stage, "together");
  await untilPhase(stage, "together", "Succeeded");
  await stage.until("the PodGroup is gone", async () => !(await stage.find(plugins.kind, "together")));
};

/** The same as Volcano reads it. */
export const volcanoReadsTheGroup: Scenario = async (stage) => {
  await installForeignKind(stage, volcano.kind);
  await stage.start(trainingOperator, { settings: { gangScheduling: "volcano" } });
  await stage.apply(
    job("erupts", { workers: 2, scheduling: { queue: "research", schedulerName: "default-scheduler" } }),
  );
  await untilPhase(stage, "erupts", "Running");
  const { spec } = await stage.get(volcano.kind, "erupts");
  assert.deepEqual([spec.minMember, spec["queue"]], [2, "research"]);
  for (const { metadata } of await podsOf(stage, "erupts")) {
    assert.equal(metadata.annotations?.["scheduling.k8s.io/group-name"], "erupts");
  }
  // Volcano places its own pods, unless another scheduler is asked for.
  await stage.apply(job("alone", { workers: 2 }));
  await stage.until("it has pods", async () => (await podsOf(stage, "alone")).length === 2);
  assert.equal((await podsOf(stage, "alone"))[0]!.spec!.schedulerName, "volcano");
  await stage.client.patch(TrainingJob, `${stage.namespace}/erupts`, { merge: { spec: { workers: 3 } } });
  await stage.until("it has grown", async () => (await statusOf(stage, "erupts")).active === 3);
  assert.equal((await stage.get(volcano.kind, "erupts")).spec.minMember, 3);
  await stage.client.patch(TrainingJob, `${stage.namespace}/erupts`, { merge: { spec: { suspend: true } } });
  await stage.until("the PodGroup is gone", async () => !(await stage.find(volcano.kind, "erupts")));
};

/** The scheduler that the chart of the scheduler plugins installs places the pods; the cluster's own would ignore the group. */
export const thePluginsPlaceThem: Scenario = async (stage) => {
  await installForeignKind(stage, plugins.kind);
  await stage.start(trainingOperator);
  await stage.apply(job("placed", { workers: 2 }));
  await stage.until("it has pods", async () => (await podsOf(stage, "placed")).length === 2);
  for (const { spec } of await podsOf(stage, "placed"))
    assert.equal(spec?.schedulerName, "scheduler-plugins-scheduler");
};
