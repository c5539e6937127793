import { type ConditionState, conditionFalse, conditionTrue, conditionUnknown, findCondition } from "konverge";
import { isMissed, MEASUREMENT_WINDOW_MS, missedReason, type ObjectiveResult, type SizingState } from "konverge/sizing";
import type { ModelDeployment } from "./model-deployment.ts";
import { indicatorText, missedText } from "./objective-text.ts";
import type { Size } from "./size-decision.ts";

/**
 * Whether the objectives of the SLA are met; undefined if there are none. It is False at once, and True again when they
 * have been met for a whole measurement, so that an objective which is barely met does not flap.
 */
export function slaCondition(
  deployment: ModelDeployment,
  results: readonly ObjectiveResult[],
  { need, replicas, futile }: Size,
  { missedAt, now }: { missedAt: SizingState["missedAt"]; now: number },
): ConditionState | undefined {
  const { sla } = deployment.spec;
  if (!sla || results.length === 0) return undefined;
  if (need.hopeless) {
    return conditionFalse(
      "ServiceTimeExceedsSLA",
      `a single request takes longer than ${sla.maxLatency}, whatever the number of replicas`,
    );
  }
  if (replicas === 0) return conditionUnknown("Asleep", "no replica runs");
  const [worst, ...others] = results.filter(isMissed).sort((a, b) => b.measured / b.max - a.measured / a.max);
  if (worst) {
    const text = missedText([worst, ...others], sla.percentile);
    if (futile?.has(worst.indicator))
      return conditionFalse("MoreReplicasDoNotHelp", `${text}, also with less load for each replica`);
    if (!need.short) return conditionFalse(missedReason(worst.indicator), text);
    const bound = need.reason === "CostCap" ? "the cost cap" : "maxReplicas";
    return conditionFalse(need.reason, `${text}, and ${bound} allows no more replicas`);
  }
  const unknown = results.filter(({ measured }) => measured === undefined);
  if (unknown.length > 0) {
    const names = unknown.map(({ indicator }) => indicatorText(indicator)).join(", ");
    return conditionUnknown("NotMeasured", `too few requests were measured: ${names}`);
  }
  const before = findCondition(deployment.status?.conditions, "SLAMet");
  if (before?.status === "False" && missedAt !== undefined && now - missedAt < MEASUREMENT_WINDOW_MS)
    return conditionFalse(before.reason, before.message);
  const names = results.map(({ indicator }) => indicatorText(indicator)).join(", ");
  return conditionTrue("WithinSLA", `${sla.percentile}% are within the SLA: ${names}`);
}
