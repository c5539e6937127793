import assert from "node:assert/strict";
import { kubeflowOperator, PLUGIN_GROUPS, type PodGroup, VOLCANO_GROUPS } from "@konverge/kubeflow-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import type { KindRef } from "konverge";
import { type CustomResourceDefinition, Pod } from "konverge/kinds";
import { change, endPod, job, PYTORCH, podsOf, untilState } from "./jobs.ts";

/** The CRD of a scheduler's PodGroups, as far as the operator needs it. */
export function podGroupCrd({ group, version }: KindRef<PodGroup>): CustomResourceDefinition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `podgroups.${group}`,
      // API groups under x-k8s.io are protected: a CRD needs the annotation of their approval.
      annotations: { "api-approved.kubernetes.io": "unapproved, a test" },
    },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind: "PodGroup", plural: "podgroups", singular: "podgroup", listKind: "PodGroupList" },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  } as CustomResourceDefinition;
}

export async function installed(stage: TestEnvironment, kind: KindRef<PodGroup>): Promise<void> {
  await stage.apply(podGroupCrd(kind));
  await stage.until("PodGroups are served", () =>
    stage.list(kind).then(
      () => true,
      () => false,
    ),
  );
}

const policy = {
  schedulingPolicy: { minAvailable: 2, scheduleTimeoutSeconds: 60, priorityClass: "", queue: "research" },
};
const asks = { resources: { requests: { cpu: "500m" }, limits: { cpu: "1", memory: "1Gi" } } };
const replicas = { Master: { container: asks }, Worker: { replicas: 2, container: asks } };

/** The coscheduling plugin: a group as large as is wanted, and pods that say which they belong to. */
export const schedulerPlugins: Scenario = async (stage) => {
  await installed(stage, PLUGIN_GROUPS);
  await stage.start(kubeflowOperator, { settings: { gangSchedulerName: "default-scheduler" } });
  await stage.apply(job(PYTORCH, "together", replicas, { runPolicy: policy }));
  await untilState(stage, PYTORCH, "together", "Running");
  const group = await stage.get(PLUGIN_GROUPS, "together");
  assert.deepEqual(group.spec, { minMember: 2, minResources: { cpu: "1" }, scheduleTimeoutSeconds: 60 });
  const pod = await stage.get(Pod, "together-worker-1");
  assert.equal(pod.metadata.labels?.["scheduling.x-k8s.io/pod-group"], "together");
  await change(stage, PYTORCH, "together", { runPolicy: { schedulingPolicy: { minAvailable: 3 } } });
  await stage.until("the group grows", async () => (await stage.get(PLUGIN_GROUPS, "together")).spec.minMember === 3);
  await endPod(stage, "together-master-0", 0);
  await untilState(stage, PYTORCH, "together", "Succeeded");
  await stage.until("the group is gone", async () => !(await stage.find(PLUGIN_GROUPS, "together")));
};

/** Volcano admits the group before there are pods. */
export const volcano: Scenario = async (stage) => {
  await installed(stage, VOLCANO_GROUPS);
  await stage.start(kubeflowOperator, { settings: { gangSchedulerName: "volcano" } });
  await stage.apply(job(PYTORCH, "erupts", replicas, { runPolicy: policy }));
  await stage.until("there is a group", async () => !!(await stage.find(VOLCANO_GROUPS, "erupts")));
  await stage.advance(stage.where === "embedded" ? 30_000 : 5_000);
  assert.deepEqual(await podsOf(stage, "erupts"), []);
  const group = await stage.get(VOLCANO_GROUPS, "erupts");
  assert.deepEqual(group.spec, { minMember: 2, minResources: { cpu: "1" }, queue: "research" });
  await stage.client.patchStatus(VOLCANO_GROUPS, `${stage.namespace}/erupts`, {
    merge: { status: { phase: "Inqueue" } },
  } as never);
  await stage.until("there are pods", async () => (await podsOf(stage, "erupts")).length === 3);
  const pod = await stage.get(Pod, "erupts-master-0");
  assert.equal(pod.spec?.schedulerName, "volcano");
  assert.equal(pod.metadata.annotations?.["scheduling.k8s.io/group-name"], "erupts");
  assert.equal(pod.metadata.annotations?.["volcano.sh/task-spec"], "master");
  await change(stage, PYTORCH, "erupts", { runPolicy: { schedulingPolicy: { minAvailable: 3 } } });
  await stage.until("the group grows", async () => {
    await stage.client.patch(Pod, `${stage.namespace}/erupts-master-0`, {
      merge: { metadata: { annotations: { changed: "yes" } } },
    });
    return (await stage.get(VOLCANO_GROUPS, "erupts")).spec.minMember === 3;
  });
  await change(stage, PYTORCH, "erupts", { runPolicy: { suspend: true } });
  await stage.until("the group is gone", async () => !(await stage.find(VOLCANO_GROUPS, "erupts")));
};

/** A gang scheduler that is not installed is reported. */
export const noSuchScheduler: Scenario = async (stage) => {
  await stage.start(kubeflowOperator, { settings: { gangSchedulerName: "volcano" } });
  await stage.apply(job(PYTORCH, "alone", { Master: {} }));
  await stage.until("it is reported", async () => {
    return (await stage.condition(PYTORCH.kind, "alone", "Stalled")) === "True NoGangScheduler";
  });
  await installed(stage, VOLCANO_GROUPS);
  await stage.until("there is a group", async () => !!(await stage.find(VOLCANO_GROUPS, "alone")));
};
