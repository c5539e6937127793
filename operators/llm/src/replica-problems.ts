import type { Conditions } from "konverge";
import {
  isGpuOfType,
  type ObservedPods,
  problemConditions,
  type WorkloadProblem,
  workloadProblem,
} from "konverge/pods";

/** What is known about the replicas of a model, and about the GPUs that they may have. */
export interface ModelReplicas extends ObservedPods {
  readonly gpuType?: string | undefined;
  /** The GPU products that nodes offer. */
  readonly offered: readonly string[];
}

/** A model with a replica that fails again and again is Ready between its failures, and Degraded all the time. */
export function crashProblem(pods: ObservedPods): WorkloadProblem | undefined {
  const problem = workloadProblem(pods);
  return problem?.reason === "ContainerCrashes" ? problem : undefined;
}

/** The conditions of a problem: a model with all its replicas is Ready nevertheless. */
export function conditionsOf(problem: WorkloadProblem, { isShort }: { isShort: boolean }): Conditions {
  const { Ready, Degraded } = problemConditions(problem);
  return isShort ? { Ready, Degraded } : { Degraded };
}

/**
 * Why replicas of a model do not start. A type of GPU that no node has is distinguished from one that is all in use,
 * and reported at once.
 */
export function replicaProblem({ gpuType, offered, ...replicas }: ModelReplicas): WorkloadProblem | undefined {
  const atOnce = workloadProblem({ ...replicas, gracePeriod: 0 });
  if (atOnce?.reason !== "NoRoom" || !gpuType || offered.some((product) => isGpuOfType(product, gpuType)))
    return workloadProblem(replicas);
  const known = offered.length > 0 ? `there are ${offered.join(", ")}` : "no node has GPUs with labels";
  return { reason: "UnknownGpuType", message: `no node has GPUs of the type ${gpuType}: ${known}` };
}
