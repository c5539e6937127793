import assert from "node:assert/strict";
import { kubeflowOperator, PLUGIN_GROUPS, TrainJob, VOLCANO_GROUPS } from "@konverge/kubeflow-operator";
import type { Scenario } from "@konverge/operator-suite";
import { Job as BatchJob, Event, Pod } from "konverge/kinds";
import { installed } from "./gang-scenarios.ts";
import { endPod } from "./jobs.ts";
import { runtime, step, trainJob } from "./train-scenarios.ts";

const asks = { resources: { requests: { cpu: "500m" } } };
const gang = (podGroupPolicy: object) =>
  runtime("gang", { podGroupPolicy, template: { spec: { replicatedJobs: [step("node", "trainer", {}, asks)] } } });
const GANG_JOB = trainJob("together", { runtimeRef: { name: "gang" } });

/** Where nothing reads PodGroups, no pods are created; where Volcano does, they belong to one of their size. */
export const trainJobOfVolcano: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  await stage.apply(gang({ volcano: {} }));
  await stage.apply(GANG_JOB);
  await stage.until("the missing scheduler is reported", async () =>
    (await stage.list(Event)).some(({ reason }) => reason === "NoGangScheduler"),
  );
  assert.deepEqual(await stage.list(BatchJob), []);
  await installed(stage, VOLCANO_GROUPS);
  await stage.until("the pods are there", async () => (await stage.list(Pod)).length === 2);
  const group = await stage.get(VOLCANO_GROUPS, "together");
  assert.deepEqual(group.spec, { minMember: 2, minResources: { cpu: "1" } });
  for (const pod of await stage.list(Pod))
    assert.equal(pod.metadata.annotations?.["scheduling.k8s.io/group-name"], "together");
  for (const { metadata } of await stage.list(Pod)) await endPod(stage, metadata.name, 0);
  await stage.until(
    "it is complete",
    async () => (await stage.condition(TrainJob, "together", "Complete")) === "True AllJobsCompleted",
  );
};

/** The coscheduling plugin reads the group from a label. */
export const trainJobOfPlugin: Scenario = async (stage) => {
  await installed(stage, PLUGIN_GROUPS);
  await stage.start(kubeflowOperator);
  await stage.apply(gang({ coscheduling: { scheduleTimeoutSeconds: 30 } }));
  await stage.apply(GANG_JOB);
  await stage.until("the pods are there", async () => (await stage.list(Pod)).length === 2);
  const group = await stage.get(PLUGIN_GROUPS, "together");
  assert.deepEqual(group.spec, { minMember: 2, minResources: { cpu: "1" }, scheduleTimeoutSeconds: 30 });
  for (const pod of await stage.list(Pod))
    assert.equal(pod.metadata.labels?.["scheduling.x-k8s.io/pod-group"], "together");
  await stage.client.delete(TrainJob, `${stage.namespace}/together`);
  await stage.until("the group is gone", async () => !(await stage.find(PLUGIN_GROUPS, "together")));
};
