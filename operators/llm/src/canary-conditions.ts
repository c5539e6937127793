import { type Conditions, conditionFalse, conditionTrue, type ReconcileContext } from "konverge";
import type { CanaryObservation } from "./canary-steps.ts";
import { indicatorText } from "./objective-text.ts";
import type { CanaryStatus } from "./rollout-spec.ts";

/** How requests are divided between two revisions. */
export type TrafficSplit = "RouteWeights" | "ReplicaShare";

/**
 * While a canary runs, the spec is not rolled out: not Ready, and Progressing. After a rollback it needs another spec:
 * Stalled, although the stable revision serves.
 */
export function canaryConditions(
  canary: CanaryStatus | undefined,
  observation: CanaryObservation,
  split: TrafficSplit,
): Conditions {
  if (!canary) return { Canary: undefined };
  const { revision, phase, step, weight } = canary;
  if (phase === "RolledBack") {
    const text = `revision ${revision} was rolled back: ${canary.message}; the stable revision serves: change the spec`;
    return {
      Ready: conditionFalse("CanaryRolledBack", text),
      Progressing: conditionFalse("CanaryRolledBack", text),
      Degraded: conditionTrue("CanaryRolledBack", text),
      Stalled: conditionTrue("CanaryRolledBack", text),
      Canary: undefined,
    };
  }
  const how =
    split === "RouteWeights"
      ? "by the weights of the HTTPRoute"
      : "by its share of the replicas behind the Service: set spec.route and install the Gateway API for exact weights";
  const text = `revision ${revision}, step ${step + 1} of ${observation.steps}: ${progressText(canary, observation)}`;
  return {
    Ready: conditionFalse("CanaryInProgress", text),
    Progressing: conditionTrue("CanaryInProgress", text),
    Canary: conditionTrue(split, `revision ${revision} gets ${weight}% of the requests ${how}`),
  };
}

function progressText({ phase, since, missedSince }: CanaryStatus, observation: CanaryObservation): string {
  const { replicas, readyReplicas, problem, results } = observation;
  if (phase === "Promoting") return "the stable replicas are replaced";
  if (phase === "Starting") {
    if (since === undefined) return "waits until the model is no longer scaled to zero";
    return `${readyReplicas} of ${replicas} replicas are ready${problem ? `: ${problem.message}` : ""}`;
  }
  if (missedSince) return `an objective has been missed since ${missedSince}`;
  const unknown = results.filter(({ measured }) => measured === undefined);
  if (unknown.length === 0) return "within the SLA";
  const names = unknown.map(({ indicator }) => indicatorText(indicator)).join(", ");
  return `too few requests were measured: ${names}`;
}

/** Reports each decision once, in an event. */
export function reportCanary(
  before: CanaryStatus | undefined,
  after: CanaryStatus | undefined,
  { steps }: CanaryObservation,
  events: ReconcileContext["events"],
): void {
  const isSame = before?.revision === after?.revision;
  if (after && !isSame) {
    events.normal("CanaryStarted", `revision ${after.revision} starts beside the stable one`, { action: "Rollout" });
  } else if (after?.phase === "RolledBack" && before?.phase !== "RolledBack") {
    events.warning("CanaryRolledBack", `revision ${after.revision}: ${after.message}`, { action: "Rollout" });
  } else if (after?.phase === "Promoting" && before?.phase !== "Promoting") {
    events.normal("CanaryPromoted", `revision ${after.revision} replaces the stable one`, { action: "Rollout" });
  } else if (after && before && after.step > before.step) {
    const text = `revision ${after.revision} begins step ${after.step + 1} of ${steps}`;
    events.normal("CanaryAdvanced", text, { action: "Rollout" });
  } else if (before && !after && before.phase !== "Promoting" && before.phase !== "RolledBack") {
    const text = `revision ${before.revision} ends: the spec has the stable revision again`;
    events.normal("CanaryAborted", text, { action: "Rollout" });
  }
}
