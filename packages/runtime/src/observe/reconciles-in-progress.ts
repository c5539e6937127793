import { AsyncLocalStorage } from "node:async_hooks";
import type { ObjectKey } from "@konverge/core";
import type { Log } from "../log.ts";

/** A reconcile that has begun and not ended. */
export interface ReconcileInProgress {
  readonly controller: string;
  readonly kind: string;
  readonly key: ObjectKey;
  /** The controller's log. */
  readonly log: Log;
}

const running = new Set<ReconcileInProgress>();
let lastEnded: ReconcileInProgress | undefined;

/** The reconciles of this process. */
export const reconcilesInProgress = {
  begin(reconcile: ReconcileInProgress): void {
    running.add(reconcile);
  },
  end(reconcile: ReconcileInProgress): void {
    running.delete(reconcile);
    lastEnded = reconcile;
  },
  /** Those in progress, and the last one that has ended since the last call. */
  take(): ReconcileInProgress[] {
    const taken = [...running, ...(lastEnded ? [lastEnded] : [])];
    lastEnded = undefined;
    return taken;
  },
};

/**
 * The reconcile whose function made what runs now, also after the reconcile has ended: only the call of the function is in it,
 * so that a function that returns at once costs next to nothing.
 */
export const currentReconcile = new AsyncLocalStorage<ReconcileInProgress>();
