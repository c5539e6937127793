import type { RESTORE_PHASES } from "./database-restore.ts";
import type { RestorePart } from "./restore-jobs.ts";

export type RestorePhase = (typeof RESTORE_PHASES)[number];

/** The state of a Job. Absent: there is none. */
export type PartState = "working" | "complete" | "failed";

/** The state of a restore in progress. Everything follows from it, so that nothing has to be stored. */
export interface RestoreFacts {
  /** Files are restored into a stopped server, SQL into a running one. */
  readonly physical: boolean;
  readonly parts: Readonly<Partial<Record<RestorePart, PartState>>>;
  /** The servers are held for this restore. */
  readonly held: boolean;
  /** No server has a pod. */
  readonly stopped: boolean;
  /** Volumes of standbys are left whose data are of the old history. */
  readonly standbys: boolean;
  /** The restored server answers. */
  readonly ready: boolean;
}

/** What is to be done next, and how far it has come. */
export interface RestoreMove {
  readonly phase: RestorePhase;
  /** The Job to be there. */
  readonly start?: RestorePart;
  /** Stop the servers, or let them start. */
  readonly hold?: boolean;
  /** Remove the volumes of standbys: they are recreated from the restored server. */
  readonly removeStandbys?: boolean;
  /** Nothing will come of it without help. */
  readonly stuck?: boolean;
}

/**
 * The next move of a restore.
 *
 * Guarantees
 * - Servers are stopped only when the check has passed, and data are touched only when no server is left.
 * - What was there is removed only when the restored server answers.
 * - Standbys' volumes go only when the restored data have come up, and before a server may write to a new one.
 * - A restore that has failed is undone before servers may start.
 */
export function nextMove(facts: RestoreFacts): RestoreMove {
  const { parts, physical } = facts;
  if (parts.check === undefined) return { phase: "Checking", start: "check" };
  if (parts.check === "working") return { phase: "Checking" };
  if (parts.check === "failed") return { phase: "Failed" };
  if (parts.restore === "failed" || parts.undo) return undoMove(facts, "Failed");
  if (parts.restore !== "complete") {
    if (physical && !facts.held) return { phase: "Stopping", hold: true };
    if (physical && !facts.stopped) return { phase: "Stopping" };
    return { phase: "Restoring", start: "restore" };
  }
  if (parts.finish === undefined) {
    if (facts.held && facts.standbys) return { phase: "Restoring", removeStandbys: true };
    if (facts.held) return { phase: "Starting", hold: false };
    if (physical && !facts.ready) return { phase: "Starting" };
    return { phase: "Finishing", start: "finish" };
  }
  if (parts.finish === "working") return { phase: "Finishing" };
  return { phase: "Completed", ...(parts.finish === "failed" && { stuck: true }) };
}

/** The next move of a restore that failed or was canceled: it puts the old data back. `phase` is its final phase. */
export function undoMove(facts: RestoreFacts, phase: RestorePhase): RestoreMove {
  const { parts, physical } = facts;
  if (parts.finish) return { phase: parts.finish === "working" ? "Finishing" : "Completed" };
  if (parts.undo === "complete" || parts.restore === undefined) {
    return facts.held ? { phase, hold: false } : { phase };
  }
  if (physical && !facts.held) return { phase: "Undoing", hold: true };
  if (physical && !facts.stopped) return { phase: "Undoing" };
  if (parts.undo === "failed") return { phase: "Undoing", stuck: true };
  return { phase: "Undoing", start: "undo" };
}
