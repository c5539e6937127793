import { type ConditionState, findCondition, type ReconcileContext } from "konverge";
import type { ObjectiveResult } from "konverge/sizing";
import { durationMs } from "konverge/time";
import type { ModelDeployment } from "./model-deployment.ts";
import { targetText, timeText } from "./objective-text.ts";
import { steadyNumber } from "./size-decision.ts";

/** An objective as the status keeps it. */
type ObjectiveStatus = NonNullable<NonNullable<ModelDeployment["status"]>["objectives"]>[number];

const FIELDS = {
  requestLatency: "maxLatency",
  timeToFirstToken: "timeToFirstToken",
  interTokenLatency: "interTokenLatency",
  queueTime: "queueTime",
} as const;

/** The results as they are reported: unchanged while they differ by less than a tenth, unless an objective is now met or missed. */
export function steadyResults(
  results: readonly ObjectiveResult[],
  reported: readonly ObjectiveStatus[] = [],
): ObjectiveResult[] {
  return results.map((result) => {
    const { indicator, max, measured } = result;
    const text = reported.find(({ name }) => name === FIELDS[indicator])?.measured;
    if (measured === undefined || text === undefined) return result;
    const shown = steadyNumber(durationMs(text) / 1000, measured);
    return shown > max === measured > max ? { ...result, measured: shown } : result;
  });
}

/** A result for the status. */
export function objectiveStatus({ indicator, max, measured }: ObjectiveResult): ObjectiveStatus {
  const name = FIELDS[indicator];
  return { name, target: targetText(max), ...(measured !== undefined && { measured: timeText(measured) }) };
}

/** Reports once, in an event, that the SLA is missed. */
export function reportMissed(
  { status }: ModelDeployment,
  slaMet: ConditionState | undefined,
  events: ReconcileContext["events"],
): void {
  if (slaMet?.status !== "False" || findCondition(status?.conditions, "SLAMet")?.status === "False") return;
  events.warning("SLAMissed", slaMet.message ?? slaMet.reason);
}
