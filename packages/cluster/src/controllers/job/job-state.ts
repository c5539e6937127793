import type { Job, JobCondition, Pod } from "@konverge/kinds";

/** Keeps a pod until it has been counted. */
export const TRACKING = "batch.kubernetes.io/job-tracking";
/** The default of `spec.managedBy`. */
const MANAGER = "kubernetes.io/job-controller";

/** The spec of a Job, with all defaults. */
export function defaultedSpec({ spec }: Job) {
  const { parallelism = 1, completionMode = "NonIndexed", backoffLimitPerIndex } = spec ?? {};
  const { backoffLimit = backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1, suspend = false } = spec ?? {};
  return { parallelism, isIndexed: completionMode === "Indexed", backoffLimit, suspend, ...spec };
}

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(TRACKING) ?? false;

export function jobCondition({ status }: Job, type: string): JobCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
}

/** The condition with which a Job has ended. */
export const finishedCondition = (job: Job): JobCondition | undefined =>
  jobCondition(job, "Complete") ?? jobCondition(job, "Failed");

/** Another controller has taken the Job on. */
export const isManagedElsewhere = ({ spec }: Job): boolean =>
  spec?.managedBy !== undefined && spec.managedBy !== MANAGER;

/** The labels by which a Job knows its pods. */
export function jobLabels({ metadata }: Job): Record<string, string> {
  return {
    "batch.kubernetes.io/controller-uid": metadata.uid!,
    "batch.kubernetes.io/job-name": metadata.name,
    "controller-uid": metadata.uid!,
    "job-name": metadata.name,
  };
}
