import type { Pod } from "@konverge/kinds";
import { type PodProblem, podProblem } from "./pod-problem.ts";
import { refused } from "./refusal.ts";

/** Why a workload does not run: a reason and a message. */
export interface WorkloadProblem {
  readonly reason: string;
  readonly message: string;
}

/** The pods of an object, for {@link workloadProblem}. */
export interface ObservedPods {
  readonly pods: readonly Pod[];
  /** The error of the API server when pods cannot be created: see {@link replicaFailureMessage} and {@link failedCreateMessage}. */
  readonly creationError?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds that a pod may be unschedulable before that is a problem. Default: {@link POD_PROBLEM_GRACE_MS}. */
  readonly gracePeriod?: number;
}

/** Milliseconds that a pod may wait for a node or a volume before that is reported as a problem. */
export const POD_PROBLEM_GRACE_MS = 30_000;

/** The most telling come first: what is wrong with one container is mostly wrong with all, and room may be found. */
const RANK: Readonly<Record<PodProblem["reason"], number>> = {
  ImageCannotBePulled: 0,
  ContainerCannotStart: 0,
  ContainerCrashes: 1,
  ClaimMissing: 2,
  ClaimUnbound: 2,
  NoRoom: 2,
};

/**
 * The most important reason why the pods of an object do not run; undefined if none is known or the pods are starting.
 *
 *     const problem = isReady ? undefined : workloadProblem({ pods, creationError: replicaFailureMessage(deployment), now: clock.now() });
 */
export function workloadProblem({
  pods,
  creationError,
  now,
  gracePeriod = POD_PROBLEM_GRACE_MS,
}: ObservedPods): WorkloadProblem | undefined {
  if (creationError) return refused(creationError);
  let first: PodProblem | undefined;
  for (const pod of pods) {
    const found = podProblem(pod);
    if (!found || (found.since !== undefined && now - found.since < gracePeriod)) continue;
    if (!first || RANK[found.reason] < RANK[first.reason]) first = found;
  }
  return first && { reason: first.reason, message: first.message };
}
