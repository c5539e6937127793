import { hasCondition, type ReconcileContext } from "konverge";
import { supportOf } from "./job-pods.ts";
import { counts, reportedBefore, suspendedConditions } from "./job-status.ts";
import { removePodGroup } from "./pod-group.ts";
import type { PodState } from "./pod-state.ts";
import type { TrainingResult } from "./tools.ts";
import type { TrainingJob } from "./training-job.ts";

/**
 * A suspended job: its pods are deleted, everything else is kept. If it has trained before, resuming it starts the next
 * attempt, so that workers continue from their checkpoints.
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
