import { groupKindText, gvkOf } from "./kind-ref.ts";
import type { Condition, KubeObject } from "./object.ts";
import { builtInRules, current, failed, inProgress, type Readiness } from "./readiness-rules.ts";
import { valueAt } from "./simple-json-path.ts";

export type { Readiness, ReadinessStatus } from "./readiness-rules.ts";

/**
 * Whether an object has reached its desired state, by the rules of kstatus, which Flux, kpt and others use: from its
 * generation, the standard conditions Reconciling and Stalled, rules for built-in kinds, and a Ready condition, in this
 * order. `now` is in milliseconds since 1970.
 *
 *     readinessOf(deployment, clock.now()); // { status: "InProgress", reason: "LessReady", message: "Ready: 1/3" }
 */
export function readinessOf(object: KubeObject | undefined, now: number): Readiness {
  if (!object) return { status: "NotFound", reason: "NotFound", message: "Resource not found" };
  const conditions = (valueAt(object, ["status", "conditions"]) ?? []) as Condition[];
  return (
    ofLifecycle(object) ??
    ofStandardConditions(conditions) ??
    builtInRules[groupKindText(gvkOf(object))]?.({ object, conditions, now }) ??
    ofReadyCondition(conditions) ??
    current("Resource is current")
  );
}

function ofLifecycle(object: KubeObject): Readiness | undefined {
  const { deletionTimestamp, generation } = object.metadata;
  if (deletionTimestamp) return { status: "Terminating", reason: "", message: "Resource scheduled for deletion" };
  const observed = valueAt(object, ["status", "observedGeneration"]);
  if (generation === undefined || observed === undefined || observed === generation) return undefined;
  return inProgress(
    "LatestGenerationNotObserved",
    `${object.kind} generation is ${generation}, but latest observed generation is ${observed}`,
  );
}

/** These two are abnormal when true, and say all there is to say. */
function ofStandardConditions(conditions: readonly Condition[]): Readiness | undefined {
  for (const { type, status, reason, message } of conditions) {
    if (status !== "True") continue;
    if (type === "Reconciling") return inProgress(reason, message);
    if (type === "Stalled") return failed(reason, message);
  }
  return undefined;
}

function ofReadyCondition(conditions: readonly Condition[]): Readiness | undefined {
  const ready = conditions.find(({ type }) => type === "Ready");
  if (!ready) return undefined;
  return ready.status === "True" ? current("Resource is Ready") : inProgress(ready.reason, ready.message);
}
