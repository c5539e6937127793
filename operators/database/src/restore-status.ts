import {
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  type EventSink,
  findCondition,
  type ReconcileContext,
  type ReconcileResult,
} from "konverge";
import { problemConditions, type WorkloadProblem } from "konverge/pods";
import { timestamp } from "konverge/time";
import type { DatabaseRestore } from "./database-restore.ts";
import { type RestorePart, type RestorePlan, restoreJobName } from "./restore-jobs.ts";
import type { RestoreMove, RestorePhase } from "./restore-progress.ts";
import type { TaskReport } from "./task-report.ts";

type Reports = Readonly<Partial<Record<RestorePart, TaskReport>>>;

/** What is done one after the other, in the words of the phases. */
const STEPS: Readonly<Record<"physical" | "logical", readonly RestorePhase[]>> = {
  physical: ["Checking", "Stopping", "Restoring", "Starting", "Finishing"],
  logical: ["Checking", "Restoring", "Finishing"],
};

const SENTENCES: Readonly<Record<RestorePhase, string>> = {
  Pending: "it has not started",
  Checking: "backup, WAL and target are being checked; the servers still run",
  Stopping: "the servers are being stopped",
  Restoring: "the backup is being restored; the old data are kept",
  Starting: "the restored server is being started; the old data are kept",
  Finishing: "the restored server answers; the old data are being removed",
  Undoing: "the old data are being restored",
  Completed: "the restored data are in use",
  Failed: "nothing was changed",
};

/** A restore that cannot begin yet; a change of the reason triggers the next reconcile. */
export function pending(
  { status }: DatabaseRestore,
  reason: string,
  message: string,
  { events }: ReconcileContext,
): ReconcileResult<DatabaseRestore> {
  if (findCondition(status?.conditions, "Ready")?.reason !== reason) events.warning(reason, message);
  return { status: { phase: "Pending" }, conditions: { Ready: conditionFalse(reason, message) } };
}

/** A restore that never will. */
export function failed(
  restore: DatabaseRestore,
  reason: string,
  error: string,
  { events }: ReconcileContext,
): ReconcileResult<DatabaseRestore> {
  if (restore.status?.phase !== "Failed") events.warning(reason, error);
  return {
    status: { phase: "Failed", error },
    conditions: { Ready: conditionFalse(reason, error), Degraded: conditionTrue(reason, error) },
  };
}

/** How far a restore has come. */
export function moved(
  plan: RestorePlan,
  move: RestoreMove,
  reports: Reports,
  problem: WorkloadProblem | undefined,
  clock: ReconcileContext["clock"],
): ReconcileResult<DatabaseRestore> {
  const { restore, method, primary } = plan;
  const { phase } = move;
  const backup = reports.restore?.["backup"] ?? reports.check?.["backup"] ?? plan.backup;
  const { recoveredTo, timeline } = reports.restore ?? {};
  const { startedAt = timestamp(clock) } = restore.status ?? {};
  const error = errorOf(phase, reports);
  return {
    status: {
      phase,
      method,
      primary,
      ...plan.place,
      startedAt,
      ...(backup && { backup }),
      ...(recoveredTo && { recoveredTo }),
      ...(timeline && { timeline }),
      ...(phase === "Completed" && { completedAt: timestamp(clock) }),
      ...(error && { error }),
      steps: stepsOf(method, phase),
    },
    conditions: problem ? problemConditions(problem) : conditionsOf(restore, move, error),
  };
}

function conditionsOf(restore: DatabaseRestore, { phase, stuck }: RestoreMove, error: string | undefined) {
  if (phase === "Completed") {
    const left = `; job ${restoreJobName(restore, "finish")} could not remove the old data: see the logs of its pods`;
    return { Ready: conditionTrue("Completed", `${SENTENCES.Completed}${stuck ? left : ""}`) };
  }
  if (phase === "Failed")
    return { Ready: conditionFalse("RestoreFailed", error), Degraded: conditionTrue("RestoreFailed", error) };
  if (stuck) {
    const message = `job ${restoreJobName(restore, "undo")} could not restore the old data: see the logs of its pods`;
    return { Ready: conditionFalse("UndoFailed", message), Degraded: conditionTrue("UndoFailed", message) };
  }
  return { Ready: conditionUnknown(phase, SENTENCES[phase]) };
}

function errorOf(phase: RestorePhase, { check, restore }: Reports): string | undefined {
  if (phase !== "Failed" && phase !== "Undoing") return undefined;
  return restore?.["error"] ?? check?.["error"] ?? "its Job has failed";
}

function stepsOf(method: "physical" | "logical", phase: RestorePhase): { name: string; state: string }[] {
  const steps = STEPS[method];
  const at = phase === "Completed" ? steps.length : steps.indexOf(phase);
  // Where a failed one has stopped, its error says.
  if (at < 0) return [];
  return steps.map((name, index) => ({ name, state: index < at ? "done" : index === at ? "running" : "waiting" }));
}

/** Records an event when the phase changes. */
export function recordMove(
  restore: DatabaseRestore,
  { phase }: RestoreMove,
  reports: Reports,
  events: EventSink,
): void {
  if (restore.status?.phase === phase) return;
  if (phase === "Failed") events.warning("RestoreFailed", errorOf(phase, reports)!);
  else events.normal(phase, SENTENCES[phase]);
}
