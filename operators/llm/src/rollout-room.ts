import { z } from "konverge";
import type { Deployment, Pod } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";
import { podProblem, type WorkloadProblem } from "konverge/pods";

/** The field `rollout` of an LLMModel. */
export const rolloutField = z.object({
  withoutRoom: z
    .enum(["Replace", "Wait"])
    .optional()
    .describe(
      "What a rollout does when no node has room for one more replica. Replace: it ends an old replica first, so that one fewer serves. Wait: it waits. Default: Replace if there are several replicas, otherwise Wait.",
    ),
});
type RolloutSpec = DeepReadonly<z.infer<typeof rolloutField>>;

type Strategy = NonNullable<NonNullable<Deployment["spec"]>["strategy"]>;

/** A new replica is ready before an old one ends: capacity never drops. */
export const WITH_SPARE: Strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
/** An old replica ends before a new one starts in its place. */
export const ONE_BY_ONE: Strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };

/** For how long a node can be on its way before replicas are replaced without a spare one. */
const PATIENCE_MINUTES = 5;

/** What is known about a rollout. */
export interface RolloutFacts {
  readonly spec: { readonly replicas: number; readonly rollout?: RolloutSpec | undefined };
  /** The Deployment as it is, and all its pods. */
  readonly live: Deployment | undefined;
  readonly pods: readonly Pod[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Whether there are replicas of an older template. */
export function isRollingOut(live: Deployment | undefined): boolean {
  if (!live) return false;
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = live.status ?? {};
  return observedGeneration < (live.metadata.generation ?? 0) || updatedReplicas < replicas;
}

/**
 * How a rollout replaces replicas. It begins with a spare one; if that finds no node for minutes, it goes on without, and stays
 * with that until all are replaced: each end of an old replica makes room for one new replica only.
 */
export function rolloutStrategy(facts: RolloutFacts): Strategy {
  const { live, pods, now } = facts;
  if (!live || !isRollingOut(live) || withoutRoom(facts) === "Wait") return WITH_SPARE;
  if (isOneByOne(live)) return ONE_BY_ONE;
  const isStuck = pods.some((pod) => {
    const { reason, since = now } = podProblem(pod, now) ?? {};
    return reason === "NoRoom" && now - since >= PATIENCE_MINUTES * 60_000;
  });
  return isStuck ? ONE_BY_ONE : WITH_SPARE;
}

/** A problem of a rollout; one that has no room reports what follows from that. */
export function rolloutProblem(problem: WorkloadProblem | undefined, facts: RolloutFacts): WorkloadProblem | undefined {
  if (problem?.reason !== "NoRoom" || !isRollingOut(facts.live) || isOneByOne(facts.live)) return problem;
  const follows =
    withoutRoom(facts) === "Wait"
      ? "the rollout waits for room for one more replica; free some, or set rollout.withoutRoom to Replace"
      : `if there is no room for ${PATIENCE_MINUTES} minutes, the rollout replaces one replica at a time`;
  return { reason: problem.reason, message: `${problem.message.replace(/\.$/, "")}; ${follows}` };
}

function withoutRoom({ spec }: RolloutFacts): "Replace" | "Wait" {
  return spec.rollout?.withoutRoom ?? (spec.replicas > 1 ? "Replace" : "Wait");
}

function isOneByOne(live: Deployment | undefined): boolean {
  return live?.spec?.strategy?.rollingUpdate?.maxSurge === 0;
}
