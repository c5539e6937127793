import { isNotFound, keyOf, type ReconcileContext } from "konverge";
import { deletePods } from "./delete-pods.ts";
import { reportedBefore, statedBefore } from "./job-status.ts";
import { removePodGroup } from "./pod-group.ts";
import type { PodState } from "./pod-state.ts";
import type { TrainingResult } from "./tools.ts";
import { TrainingJob } from "./training-job.ts";

/** A job that has come to its end: what it no longer needs goes, and at last the job itself, if it says so. */
export async function afterTheEnd(
  job: TrainingJob,
  pods: readonly PodState[],
  context: ReconcileContext,
): Promise<TrainingResult> {
  const { client, clock } = context;
  const { cleanPodPolicy, ttlSecondsAfterFinished } = job.spec;
  await deletePods(pods.filter(toClean(cleanPodPolicy)), client);
  await removePodGroup(job, client);
  const { podGroup: _, ...status } = reportedBefore(job);
  const conditions = statedBefore(job);
  const result: TrainingResult = { status, conditions, ...(cleanPodPolicy === "All" && { children: [] }) };
  if (ttlSecondsAfterFinished === undefined || !status.completionTime) return result;
  const left = Date.parse(status.completionTime) + 1000 * ttlSecondsAfterFinished - clock.now();
  if (left > 0) return { ...result, requeueAfter: left };
  await client
    .delete(TrainingJob, keyOf(job), { preconditions: { uid: job.metadata.uid! }, propagationPolicy: "Background" })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  return {};
}

function toClean(policy: TrainingJob["spec"]["cleanPodPolicy"]): (pod: PodState) => boolean {
  if (policy === "None") return () => false;
  return ({ state }) => policy === "All" || state === "Running" || state === "Pending";
}
