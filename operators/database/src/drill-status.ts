import { type Conditions, conditionFalse, conditionTrue, type ReconcileContext } from "konverge";
import { Job } from "konverge/kinds";
import type { Database } from "./database.ts";
import { DRILL_OF } from "./drill-jobs.ts";
import { reportOf } from "./task-jobs.ts";
import { jobEnd } from "./task-pod.ts";

/** The condition with the outcome of the last restore drill. */
export const RESTORE_DRILL = "RestoreDrill";

export type Drill = NonNullable<NonNullable<Database["status"]>["drills"]>[number];

/** How many drills the status remembers. */
const REMEMBERED = 10;

/** The drills that have ended, the last one first: those that the status remembers, and those of Jobs that ended since. */
export async function drillHistory(database: Database, context: ReconcileContext): Promise<readonly Drill[]> {
  const { name, namespace } = database.metadata;
  const known = database.status?.drills ?? [];
  const ended = context.cache
    .list(Job, namespace)
    .filter((job) => job.metadata.labels?.[DRILL_OF] === name && jobEnd(job) !== undefined)
    .filter((job) => !known.some((drill) => drill.name === job.metadata.name));
  const drills = await Promise.all(ended.map((job) => drillOf(job, context)));
  return [...drills, ...known].sort((a, b) => b.startedAt.localeCompare(a.startedAt)).slice(0, REMEMBERED);
}

async function drillOf(job: Job, context: ReconcileContext): Promise<Drill> {
  const { backup, target, recoveredTo, seconds, error } = await reportOf(job, context);
  const hasPassed = jobEnd(job) === "complete";
  return {
    name: job.metadata.name,
    startedAt: job.status?.startTime ?? job.metadata.creationTimestamp ?? "",
    result: hasPassed ? "Passed" : "Failed",
    ...(backup && { backup }),
    ...(target && { target }),
    ...(recoveredTo && { recoveredTo }),
    ...(seconds && { seconds: Number(seconds) }),
    ...(!hasPassed && { error: error ?? "its Job has failed" }),
  };
}

/** Whether the last drill passed; nothing before there was one. */
export function drillCondition({ spec }: Database, [last]: readonly Drill[]): Conditions {
  if (!spec.backup?.drill || !last) return { [RESTORE_DRILL]: undefined };
  if (last.result === "Failed") {
    const message = `${last.name} could not restore the backups${last.target ? ` to ${last.target}` : ""}: ${last.error}`;
    return { [RESTORE_DRILL]: conditionFalse("DrillFailed", message) };
  }
  const message = `backup ${last.backup ?? ""} was restored to ${last.target ?? "the end"} in ${last.seconds ?? 0} seconds, and passed all checks`;
  return { [RESTORE_DRILL]: conditionTrue("DrillPassed", message) };
}
