import { type ConditionState, conditionFalse, conditionTrue, conditionUnknown } from "konverge";
import type { LoadMeasurement } from "konverge/sizing";
import type { ModelDeployment } from "./model-deployment.ts";
import type { Size } from "./size-decision.ts";

/** Whether what is promised is kept; undefined where nothing is. */
export function slaCondition(
  { spec: { sla } }: ModelDeployment,
  measured: LoadMeasurement | undefined,
  { need, replicas }: Size,
  maxLatency: number,
): ConditionState | undefined {
  if (!sla) return undefined;
  if (need.hopeless) {
    return conditionFalse(
      "ServiceTimeExceedsSLA",
      `a single request takes longer than ${sla.maxLatency}, whatever the number of replicas`,
    );
  }
  if (replicas === 0) return conditionUnknown("Asleep", "no replica runs");
  const latency = measured?.latency;
  if (latency === undefined) return conditionUnknown("NotMeasured", "too few requests were measured");
  if (latency <= maxLatency)
    return conditionTrue("WithinSLA", `${sla.percentile}% of requests are answered within ${sla.maxLatency}`);
  const why = need.short
    ? `, and ${need.reason === "CostCap" ? "the cost cap" : "maxReplicas"} allows no more replicas`
    : "";
  return conditionFalse(
    need.short ? need.reason : "LatencyAboveSLA",
    `fewer than ${sla.percentile}% of requests are answered within ${sla.maxLatency}${why}`,
  );
}
