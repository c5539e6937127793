import { type AnyObject, type KindRef, ownerReference } from "konverge";
import { labelsOf } from "./names.ts";
import { TrainingJob } from "./training-job.ts";
import type { GangMarks } from "./worker-pod.ts";

/** A PodGroup of any of the schedulers that have them. */
export interface PodGroup extends AnyObject {
  spec: { minMember: number } & Record<string, unknown>;
}

/** A scheduler that places all pods of a group or none, and how pods are grouped for it. */
export interface GangScheduler {
  /** As it is called in the operator's settings and in the status. */
  readonly name: string;
  readonly kind: KindRef<PodGroup>;
  podGroup(job: TrainingJob): PodGroup;
  marks(job: TrainingJob): GangMarks;
}

const podGroups = (group: string, version: string): KindRef<PodGroup> => ({
  group,
  version,
  kind: "PodGroup",
  plural: "podgroups",
  namespaced: true,
});

const PLUGIN_GROUPS = podGroups("scheduling.x-k8s.io", "v1alpha1");
const VOLCANO_GROUPS = podGroups("scheduling.volcano.sh", "v1beta1");
/** The kinds of PodGroups, by the name of the scheduler. */
export const POD_GROUPS: Readonly<Record<string, KindRef<PodGroup>>> = {
  "scheduler-plugins": PLUGIN_GROUPS,
  volcano: VOLCANO_GROUPS,
};

/** How many pods must find a place together. */
export function gangSize({ spec }: TrainingJob): number {
  return (spec.elastic?.minWorkers ?? spec.workers) + (spec.parameterServers?.count ?? 0);
}

function groupOf(job: TrainingJob, apiVersion: string, more: Record<string, unknown>): PodGroup {
  const { name, namespace } = job.metadata;
  return {
    apiVersion,
    kind: "PodGroup",
    metadata: { name, namespace, labels: labelsOf(job), ownerReferences: [ownerReference(TrainingJob, job)] },
    spec: { minMember: gangSize(job), ...more },
  };
}

/** As the chart of the scheduler plugins calls the scheduler that it installs beside the cluster's. */
export const PLUGINS_SCHEDULER = "scheduler-plugins-scheduler";

/**
 * The coscheduling plugin of Kubernetes' scheduler plugins, in the scheduler of that name. The embedded cluster's
 * `default-scheduler` has it.
 */
export const schedulerPlugins = (schedulerName: string): GangScheduler => ({
  name: "scheduler-plugins",
  kind: PLUGIN_GROUPS,
  podGroup: (job) => groupOf(job, "scheduling.x-k8s.io/v1alpha1", {}),
  marks: (job) => ({ labels: { "scheduling.x-k8s.io/pod-group": job.metadata.name }, schedulerName }),
});

/** Volcano, which places its pods itself. */
export const volcano: GangScheduler = {
  name: "volcano",
  kind: VOLCANO_GROUPS,
  podGroup(job) {
    const { queue, priorityClassName } = job.spec.scheduling ?? {};
    return groupOf(job, "scheduling.volcano.sh/v1beta1", {
      ...(queue && { queue }),
      ...(priorityClassName && { priorityClassName }),
    });
  },
  marks: (job) => ({ annotations: { "scheduling.k8s.io/group-name": job.metadata.name }, schedulerName: "volcano" }),
};
