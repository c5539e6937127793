import { hasCondition, type ReconcileContext } from "konverge";
import { supportOf } from "./job-pods.ts";
import { counts, reportedBefore, suspendedConditions } from "./job-status.ts";
import { removePodGroup } from "./pod-group.ts";
import type { PodState } from "./pod-state.ts";
import type { TrainingResult } from "./tools.ts";
import type { TrainingJob } from "./training-job.ts";

/**
 * A job that shall not run: its pods go, everything else stays for the time when it is resumed. What has trained before
 * is then the next attempt, so that workers know that there are checkpoints to go on from.
 */
export async function suspended(
  job: TrainingJob,
  pods: readonly PodState[],
  context: ReconcileContext,
): Promise<TrainingResult> {
  const { client, events } = context;
  if (!hasCondition(job, "Suspended")) events.normal("Suspended", "Workers are stopped until the job is resumed");
  await removePodGroup(job, client);
  const { startTime, podGroup: _, stragglers: _s, finishedWorkers: _f, ...before } = reportedBefore(job);
  const attempt = (before.attempt ?? 0) + (startTime ? 1 : 0);
  const status = {
    ...before,
    ...counts(job, { current: [], finished: [] }, before, new Map()),
    phase: "Pending" as const,
    attempt,
  };
  return { children: supportOf(job, undefined, context), status, conditions: suspendedConditions(pods.length) };
}
