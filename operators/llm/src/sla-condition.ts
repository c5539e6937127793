import { type ConditionState, no, unknown, yes } from "konverge";
import type { Measured } from "konverge/sizing";
import type { ModelDeployment } from "./model-deployment.ts";
import type { Size } from "./size-decision.ts";

/** Whether what is promised is kept; undefined where nothing is. */
export function slaCondition(
  { spec: { sla } }: ModelDeployment,
  measured: Measured | undefined,
  { need, replicas }: Size,
  maxLatency: number,
): ConditionState | undefined {
  if (!sla) return undefined;
  if (need.hopeless) {
    return no(
      "ServiceTimeExceedsSLA",
      `a request alone takes longer than ${sla.maxLatency}, whatever the number of replicas`,
    );
  }
  if (replicas === 0) return unknown("Asleep", "no replica runs");
  const latency = measured?.latency;
  if (latency === undefined) return unknown("NotMeasured", "too few requests were measured to tell");
  if (latency <= maxLatency)
    return yes("WithinSLA", `${sla.percentile}% of requests are answered within ${sla.maxLatency}`);
  const why = need.short
    ? `, and ${need.reason === "CostCap" ? "the cost cap" : "maxReplicas"} allows no more replicas`
    : "";
  return no(
    need.short ? need.reason : "LatencyAboveSLA",
    `fewer than ${sla.percentile}% of requests are answered within ${sla.maxLatency}${why}`,
  );
}
