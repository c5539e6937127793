import type { KubeObject } from "konverge";
import type { Deployment, Pod } from "konverge/kinds";
import { readinessOf } from "konverge/objects";
import { replicaFailureMessage, type WorkloadProblem, workloadProblem } from "konverge/pods";

/** Why a component is not ready yet, in one of the words that the graph's condition knows. */
export interface Delay {
  readonly reason: "insufficient_capacity" | "updating" | "pods_not_ready" | "failed";
  readonly message: string;
  /** What keeps its pods from running, if that is known. */
  readonly problem?: WorkloadProblem;
}

/** Problems that pods have before they are anywhere. */
const PLACEMENT = new Set(["NoRoom", "ClaimMissing", "ClaimUnbound"]);

/**
 * What a component still waits for, judged on its newest revision: pods of an older one do not count, however well they do.
 * Undefined: it is ready.
 */
export function delayOf(live: KubeObject | undefined, pods: readonly Pod[], now: number): Delay | undefined {
  if (!live) return { reason: "updating", message: "it is being created" };
  const { status, message } = readinessOf(live, now);
  if (status === "Current") return undefined;
  const { spec, status: reported } = live as Deployment;
  const problem = workloadProblem({ pods, creationError: replicaFailureMessage(live), now });
  if (problem) {
    const reason = PLACEMENT.has(problem.reason)
      ? "insufficient_capacity"
      : status === "Failed"
        ? "failed"
        : "pods_not_ready";
    return { reason, message: problem.message, problem };
  }
  if (status === "Failed") return { reason: "failed", message };
  const updated = reported?.updatedReplicas ?? 0;
  const wanted = spec?.replicas ?? 1;
  return updated < wanted
    ? { reason: "updating", message: `${updated} of ${wanted} replicas are up to date` }
    : { reason: "pods_not_ready", message };
}
