import type { LoadMeasurement, PartOfRequest } from "./measurement.ts";
import type { LatencyObjective } from "./queueing.ts";

/** Times that an objective can be about. */
export type LatencyIndicator = "requestLatency" | PartOfRequest;

/** Objectives about parts of requests, in seconds. */
export interface TokenObjectives {
  /** Of all observations, this part (0 … 1) is within the maximum. */
  readonly part: number;
  readonly max: Readonly<Partial<Record<PartOfRequest, number>>>;
}

/** The objectives of a deployment. */
export interface Objectives {
  readonly promised: LatencyObjective | undefined;
  readonly objectives?: TokenObjectives | undefined;
}

/** An objective with what was measured: seconds; undefined if there were too few observations. */
export interface ObjectiveResult {
  readonly indicator: LatencyIndicator;
  readonly max: number;
  readonly measured: number | undefined;
}

/** Each objective, and how it is met. */
export function objectiveResults(
  { promised, objectives }: Objectives,
  measured: Pick<LoadMeasurement, "latency" | "percentiles"> | undefined,
): ObjectiveResult[] {
  const results: ObjectiveResult[] = [];
  if (promised) results.push({ indicator: "requestLatency", max: promised.maxLatency, measured: measured?.latency });
  for (const indicator of ["timeToFirstToken", "interTokenLatency", "queueTime"] as const) {
    const max = objectives?.max[indicator];
    if (max !== undefined) results.push({ indicator, max, measured: measured?.percentiles?.[indicator] });
  }
  return results;
}

/** An objective that is missed. */
export interface MissedObjective extends ObjectiveResult {
  readonly measured: number;
}

/** Whether the measurement exceeds the objective. */
export function isMissed(result: ObjectiveResult): result is MissedObjective {
  return result.measured !== undefined && result.measured > result.max;
}

/** The objective that the queueing model sizes for: a request waits no longer than for its first token. */
export function modelledObjective(
  { promised, objectives }: Objectives,
  serviceTime: number,
): LatencyObjective | undefined {
  const wait = Math.min(
    objectives?.max.queueTime ?? Number.POSITIVE_INFINITY,
    objectives?.max.timeToFirstToken ?? Number.POSITIVE_INFINITY,
  );
  if (!objectives || wait === Number.POSITIVE_INFINITY) return promised;
  const byWait = { maxLatency: serviceTime + wait, part: objectives.part };
  return promised && promised.maxLatency < byWait.maxLatency ? promised : byWait;
}
