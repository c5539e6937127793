import { endTimeOf, type PodState } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";
import type { FinishedWorker } from "./training-job-status.ts";

/**
 * The workers of the current gang that have succeeded, by their numbers: those that the status remembers and those whose pods
 * are observed. A pod that has ended can be deleted at any time, by a user, with its node or by garbage collection; the
 * training that it did is not lost with it.
 */
export function finishedWorkers({ spec, status }: TrainingJob, pods: readonly PodState[]): readonly FinishedWorker[] {
  const known = new Map((status?.finishedWorkers ?? []).map((one) => [one.workerId, one]));
  for (const one of pods.filter(({ role }) => role === "worker").filter(hasSucceeded)) {
    if (known.has(one.index)) continue;
    const finishedAt = endTimeOf(one);
    known.set(one.index, { workerId: one.index, podName: one.pod.metadata.name, ...(finishedAt && { finishedAt }) });
  }
  return [...known.values()].filter(({ workerId }) => workerId < spec.workers).sort((a, b) => a.workerId - b.workerId);
}

/** Whether a pod has ended with success, also if it is being deleted. */
export function hasSucceeded({ pod }: PodState): boolean {
  return pod.status?.phase === "Succeeded";
}
