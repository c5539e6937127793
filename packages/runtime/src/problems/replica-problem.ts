/**
 * Why pods do not run, and how that is reported to users.
 *
 * An owner of pods learns only that fewer are ready than it asked for; the cause is in the pods, or with the controller that was
 * refused them. `podProblem` reads one pod, `workloadProblem` all pods of an object together with what refuses more of
 * them (`replicaFailureMessage` a Deployment, `failedCreateMessage` of a StatefulSet, `podCreationProblem` of a failed request).
 * `reportProblem` says it in an event, once, and `problemConditions` in conditions, for as long as it lasts.
 *
 * Reasons and messages stay the same from look to look as long as the cause does: what a node adds about its tries and waits
 * is left out, so that telling a problem writes nothing while nothing changes. Want of room counts only when it lasts
 * (`PATIENCE`); nothing signals the end of that time, so a caller that waits for pods reconciles again after it.
 */

import type { Pod } from "@konverge/kinds";
import { type PodProblem, podProblem } from "./pod-problem.ts";
import type { WorkloadProblem } from "./problem.ts";
import { refused } from "./refusal.ts";

/** The pods of an object, as observed. */
export interface ObservedPods {
  readonly pods: readonly Pod[];
  /** Why the API server rejects the creation of pods: see `replicaFailureMessage` and `failedCreateMessage`. */
  readonly creationError?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * How long pods can be without a node before that is a problem, in milliseconds. Default: {@link
   * POD_PROBLEM_GRACE_MS}.
   */
  readonly gracePeriod?: number;
}

/** How long a pod can wait for a node or a volume before that is a problem, in milliseconds. */
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
 * The most informative reason why an object's pods do not run, or undefined if none is known. Pods that are starting
 * have no problem.
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
    const found = podProblem(pod, now);
    if (!found || (found.since !== undefined && now - found.since < gracePeriod)) continue;
    if (!first || RANK[found.reason] < RANK[first.reason]) first = found;
  }
  return first && { reason: first.reason, message: first.message };
}
