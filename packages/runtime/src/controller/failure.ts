import { ApiError, isConflict } from "@konverge/core";
import { ExternalError, PermanentError } from "../errors.ts";
import { LostAuthorityError } from "../leadership/authority.ts";
import type { ReconcileEnd } from "../observe/observer.ts";

/** What a reconcile that threw means for its object. */
export interface Failure {
  readonly outcome: Exclude<ReconcileEnd["outcome"], "done" | "gone" | "paused" | "waiting">;
  readonly error: unknown;
  /** For conditions and events. */
  readonly reason: string;
  readonly message: string;
  /** Reconcile again after this many milliseconds; undefined: after the usual back-off, or (permanent) not at all. */
  readonly after?: number;
}

/** A server that refuses an object will do so again, until the object or the rules change. */
const REFUSED = new Set([400, 413, 422]);
/** Rules change, too, though rarely. */
const REFUSED_RETRY = 5 * 60_000;
/** A namespace that is being deleted takes nothing new, and will soon be gone. */
const TERMINATING_RETRY = 30_000;

/** `retriesRefused`: what the server refuses is retried like any other error. */
export function failureOf(error: unknown, stopped: boolean, retriesRefused = false): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof LostAuthorityError || stopped) return { outcome: "stopped", error, reason: "Stopped", message };
  if (error instanceof PermanentError) return { outcome: "permanent", error, reason: error.reason, message };
  if (error instanceof ExternalError) {
    return { outcome: "external", error, reason: error.reason, message, after: error.requeueAfter };
  }
  if (isConflict(error)) {
    return { outcome: "conflict", error, reason: "Conflict", message };
  }
  if (error instanceof ApiError && !retriesRefused) {
    if (REFUSED.has(error.code)) {
      return { outcome: "permanent", error, reason: error.reason, message, after: REFUSED_RETRY };
    }
    const causes = error.details?.causes ?? [];
    if (causes.some(({ reason }) => reason === "NamespaceTerminating")) {
      return { outcome: "external", error, reason: "NamespaceTerminating", message, after: TERMINATING_RETRY };
    }
  }
  const retryAfter = error instanceof ApiError ? error.retryAfter : undefined;
  return {
    outcome: "transient",
    error,
    reason: "ReconcileFailed",
    message,
    ...(retryAfter !== undefined && { after: retryAfter }),
  };
}
