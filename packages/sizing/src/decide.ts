import { futileObjectives, type LearnedLimits, replicasWithinLimits } from "./learned-limits.ts";
import type { LoadMeasurement } from "./measurement.ts";
import {
  isMissed,
  type LatencyIndicator,
  modelledObjective,
  objectiveResults,
  type TokenObjectives,
} from "./objectives.ts";
import { type LatencyObjective, replicasForObjective, type ServiceDemand } from "./queueing.ts";

/** The configuration of a deployment's size. */
export interface SizingRules {
  /** The initial size, before anything is measured. */
  readonly initial: number;
  readonly min: number;
  readonly max: number;
  /** The maximum number of replicas by cost; undefined: no limit. */
  readonly affordable: number | undefined;
  readonly concurrency: number;
  /** Declared values, used until there are measurements. */
  readonly load: number | undefined;
  readonly serviceTime: number | undefined;
  /** Requests per second that must always be possible. */
  readonly minThroughput: number;
  readonly promised: LatencyObjective | undefined;
  /** Objectives about parts of requests; undefined: none. */
  readonly objectives?: TokenObjectives | undefined;
  /** Percentage by which the autoscaler can exceed the required size. */
  readonly burst: number;
  /** Milliseconds for which fewer replicas must have been sufficient before scaling down. */
  readonly downAfter: number;
}

/** The reason for a size that was corrected because an objective is missed. */
export type MissedReason =
  | "LatencyAboveSLA"
  | "TimeToFirstTokenAboveSLA"
  | "InterTokenLatencyAboveSLA"
  | "QueueTimeAboveSLA";

const MISSED: Readonly<Record<LatencyIndicator, MissedReason>> = {
  requestLatency: "LatencyAboveSLA",
  timeToFirstToken: "TimeToFirstTokenAboveSLA",
  interTokenLatency: "InterTokenLatencyAboveSLA",
  queueTime: "QueueTimeAboveSLA",
};

/** The reason that a missed objective is reported with. */
export function missedReason(indicator: LatencyIndicator): MissedReason {
  return MISSED[indicator];
}

/** The reason for the size of a deployment. */
export type SizeReason =
  | "NothingMeasured"
  | "LoadDeclared"
  | "LoadMeasured"
  | MissedReason
  | "LimitLearned"
  | "AtMinimum"
  | "AtMaximum"
  | "CostCap";

/** The required number of replicas, and why. */
export interface RequiredReplicas {
  readonly replicas: number;
  readonly reason: SizeReason;
  /** No number meets the objective, because the service time alone is too long. */
  readonly hopeless: boolean;
  /** More are needed than are permitted. */
  readonly short: boolean;
}

/**
 * Scaling down requires that fewer replicas can handle slightly more than the current load; otherwise the next peak
 * would scale up again.
 */
export const SCALE_DOWN_RESERVE = 1.15;
/** However far latency is off, the size at most doubles at once. */
const LARGEST_STEP = 2;

/**
 * The replicas that are needed now: as many as the model says; more than now if an objective is missed all the same; and
 * enough to stay below what was learned. `current` is the current size, if latency was measured with all of it ready.
 */
export function requiredReplicas(
  rules: SizingRules,
  measured: LoadMeasurement | undefined,
  current: number | undefined,
  reserve = 1,
  learned?: { readonly limits: LearnedLimits; readonly kept: number },
): RequiredReplicas {
  const { promised, concurrency } = rules;
  const known = measured ? measured.load : rules.load;
  if (measured && known === 0 && rules.minThroughput === 0) return bounded(rules, 0, "LoadMeasured", false);
  const serviceTime = measured?.serviceTime ?? rules.serviceTime;
  if (known === undefined || serviceTime === undefined) return bounded(rules, rules.initial, "NothingMeasured", false);
  const load = Math.max(known * reserve, rules.minThroughput);
  const demand: ServiceDemand = { load, serviceTime, concurrency };
  const hopeless = promised !== undefined && serviceTime > promised.maxLatency;
  const byModel = replicasForObjective(demand, hopeless ? undefined : modelledObjective(rules, serviceTime));
  const futile = learned ? futileObjectives(learned.limits) : undefined;
  const [worst] = objectiveResults(rules, measured)
    .filter(isMissed)
    .filter(({ indicator }) => !(hopeless && indicator === "requestLatency") && !futile?.has(indicator))
    .sort((a, b) => b.measured / b.max - a.measured / a.max);
  if (worst && current) {
    const more = Math.max(current + 1, Math.ceil(current * Math.min(LARGEST_STEP, worst.measured / worst.max)));
    if (more > byModel) return bounded(rules, more, missedReason(worst.indicator), hopeless);
  }
  // One bad minute must not multiply the size when the load grows: beyond the model's double, a limit only keeps.
  const byLimits = Math.min(
    learned ? replicasWithinLimits(learned.limits, load) : 0,
    Math.max(LARGEST_STEP * byModel, learned?.kept ?? 0),
  );
  if (byLimits > byModel) return bounded(rules, byLimits, "LimitLearned", hopeless);
  return bounded(rules, byModel, measured ? "LoadMeasured" : "LoadDeclared", hopeless);
}

function bounded(rules: SizingRules, wanted: number, reason: SizeReason, hopeless: boolean): RequiredReplicas {
  const { min, max, affordable = Number.POSITIVE_INFINITY } = rules;
  if (wanted > Math.min(max, affordable)) {
    const capped = affordable < max ? ("CostCap" as const) : ("AtMaximum" as const);
    return { replicas: Math.max(0, Math.min(max, affordable)), reason: capped, hopeless, short: true };
  }
  if (wanted < min)
    return { replicas: Math.min(min, affordable), reason: "AtMinimum", hopeless, short: min > affordable };
  return { replicas: wanted, reason, hopeless, short: false };
}

/** Recently required sizes, newest last. */
export interface RecentSizes {
  readonly at: number;
  readonly replicas: number;
}

/** A size, and the sizes to remember for the next decision. */
export interface StabilizedSize {
  readonly replicas: number;
  readonly recent: readonly RecentSizes[];
}

/** Follows the required size: up at once, down only to the maximum that was recently required, with a reserve. */
export function stabilizedSize(
  now: number,
  current: number,
  need: { readonly up: number; readonly down: number },
  recent: readonly RecentSizes[],
  downAfter: number,
): StabilizedSize {
  const kept = [...recent.filter(({ at }) => now - at <= downAfter), { at: now, replicas: need.down }];
  if (need.up >= current) return { replicas: need.up, recent: kept };
  const known = recent.length > 0 && now - recent[0]!.at >= downAfter;
  const most = Math.max(...kept.map(({ replicas }) => replicas));
  // Until a whole window is known, no replica is removed: a process that has just started knows nothing.
  return { replicas: known ? Math.min(current, Math.max(need.up, most)) : current, recent: kept };
}

/** The bounds of the autoscaler. */
export function autoscalerBounds(
  replicas: number,
  rules: Pick<SizingRules, "max" | "affordable" | "burst">,
): { min: number; max: number } {
  const min = Math.max(1, replicas);
  const room = Math.max(min, Math.min(rules.max, rules.affordable ?? Number.POSITIVE_INFINITY));
  return { min, max: Math.max(min, Math.min(room, Math.ceil(min * (1 + rules.burst / 100)))) };
}
