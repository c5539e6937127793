import type { ReconcileContext } from "konverge";
import { Pod } from "konverge/kinds";
import { PODS_BY_JOB } from "./names.ts";
import { type PodState, podState } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";

/** All pods of a job with their labels, in the order of their names. */
export function podsOf(job: TrainingJob, { cache }: ReconcileContext): PodState[] {
  return cache.find(Pod, PODS_BY_JOB, job.metadata.uid!).flatMap((pod) => podState(pod) ?? []);
}
