import { isNotFound, keyOf, type ReconcileContext } from "konverge";
import { keptPods, type OwnPod, supportOf } from "./job-pods.ts";
import { reportedBefore, statedBefore } from "./job-status.ts";
import { removePodGroup } from "./pod-group.ts";
import type { PodState } from "./pod-state.ts";
import type { TrainingResult } from "./tools.ts";
import { TrainingJob } from "./training-job.ts";

/** A job that has come to its end: what it no longer needs goes, and at last the job itself, if it says so. */
export async function afterTheEnd(
  job: TrainingJob,
  pods: readonly OwnPod[],
  context: ReconcileContext,
): Promise<TrainingResult> {
  const { client, clock } = context;
  const { ttlSecondsAfterFinished } = job.spec;
  await removePodGroup(job, client);
  const { podGroup: _, ...status } = reportedBefore(job);
  const conditions = statedBefore(job);
  const result: TrainingResult = { status, conditions, children: childrenOf(job, pods, context) };
  if (ttlSecondsAfterFinished === undefined || !status.completionTime) return result;
  const left = Date.parse(status.completionTime) + 1000 * ttlSecondsAfterFinished - clock.now();
  if (left > 0) return { ...result, requeueAfter: left };
  const preconditions = { uid: job.metadata.uid! };
  try {
    // Direct write: a job whose time to live is over deletes itself.
    await client.delete(TrainingJob, keyOf(job), { preconditions, propagationPolicy: "Background" });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return {};
}

/** What a job keeps after its end; undefined if it keeps everything. */
function childrenOf(job: TrainingJob, pods: readonly OwnPod[], context: ReconcileContext): TrainingResult["children"] {
  const { cleanPodPolicy } = job.spec;
  if (cleanPodPolicy === "None") return undefined;
  if (cleanPodPolicy === "All") return [];
  const toDelete = (pod: PodState) => pod.state === "Running" || pod.state === "Pending";
  return [...supportOf(job, undefined, context), ...keptPods(pods.filter((pod) => !toDelete(pod)))];
}
