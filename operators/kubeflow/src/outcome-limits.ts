import type { Job } from "./job.ts";
import { sizeOf } from "./job.ts";
import { isActive, type JobPod, phaseOf } from "./job-pods.ts";

export const backoffMessage = (name: string) =>
  `Job ${name} has failed because it has reached the specified backoff limit`;
export const deadlineMessage = (name: string) =>
  `Job ${name} has failed because it was active longer than specified deadline`;

/** Whether a limit ended a job. Such a job keeps none of its pods, whatever its clean-up policy says. */
export function wasCutShort({ name, status }: Job): boolean {
  const failed = status.conditions?.find(({ type }) => type === "Failed");
  return failed?.message === backoffMessage(name) || failed?.message === deadlineMessage(name);
}

/** Why a job must not go on; undefined if it may. */
export function exceededLimit(job: Job, pods: readonly JobPod[], now: number): string | undefined {
  if (isPastBackoffLimit(job, pods)) return backoffMessage(job.name);
  const deadline = deadlineOf(job);
  return deadline !== undefined && now >= deadline ? deadlineMessage(job.name) : undefined;
}

/** When the job's time is up, in milliseconds since 1970. */
export function deadlineOf({ runPolicy, status }: Job): number | undefined {
  const { activeDeadlineSeconds } = runPolicy;
  if (activeDeadlineSeconds === undefined || !status.startTime) return undefined;
  return Date.parse(status.startTime) + activeDeadlineSeconds * 1000;
}

function isPastBackoffLimit(job: Job, pods: readonly JobPod[]): boolean {
  const { backoffLimit } = job.runPolicy;
  if (backoffLimit === undefined) return false;
  const restarts = restartsOf(job, pods);
  if (backoffLimit > 0) return restarts >= backoffLimit;
  return restarts > 0 || hasNewFailure(job, pods);
}

/** Restarts of containers within pods that run. */
function restartsOf({ replicas }: Job, pods: readonly JobPod[]): number {
  const counted = replicas
    .filter(({ restartPolicy }) => restartPolicy !== "Never")
    .map(({ type }) => type.toLowerCase());
  return pods
    .filter((one) => counted.includes(one.type) && phaseOf(one) === "Running")
    .flatMap(({ pod: { status } }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
}

function hasNewFailure(job: Job, pods: readonly JobPod[]): boolean {
  const failed = pods.filter((one) => phaseOf(one) === "Failed").length;
  const known = Object.values(job.status.replicaStatuses ?? {}).reduce((sum, one) => sum + (one.failed ?? 0), 0);
  return failed > known && pods.filter(isActive).length !== sizeOf(job);
}
