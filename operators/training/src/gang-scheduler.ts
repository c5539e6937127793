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

/** The coscheduling plugin of Kubernetes' scheduler plugins; the embedded cluster's scheduler reads the same. */
export const schedulerPlugins: GangScheduler = {
  name: "scheduler-plugins",
  kind: podGroups("scheduling.x-k8s.io", "v1alpha1"),
  podGroup: (job) => groupOf(job, "scheduling.x-k8s.io/v1alpha1", {}),
  marks: (job) => ({ labels: { "scheduling.x-k8s.io/pod-group": job.metadata.name } }),
};

/** Volcano, which places its pods itself. */
export const volcano: GangScheduler = {
  name: "volcano",
  kind: podGroups("scheduling.volcano.sh", "v1beta1"),
  podGroup(job) {
    const { queue, priorityClassName } = job.spec.scheduling ?? {};
    return groupOf(job, "scheduling.volcano.sh/v1beta1", {
      ...(queue && { queue }),
      ...(priorityClassName && { priorityClassName }),
    });
  },
  marks: (job) => ({ annotations: { "scheduling.k8s.io/group-name": job.metadata.name }, schedulerName: "volcano" }),
};

/** In the order in which they are looked for. */
export const GANG_SCHEDULERS: readonly GangScheduler[] = [schedulerPlugins, volcano];
