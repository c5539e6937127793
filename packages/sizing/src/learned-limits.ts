import type { LoadMeasurement } from "./measurement.ts";
import type { LatencyIndicator, MissedObjective } from "./objectives.ts";

/**
 * What measurements teach that the queueing model does not know: how much load a replica takes before an objective is
 * missed, and objectives that replicas have no influence on.
 *
 * Without it, a size that was corrected upwards would come down as soon as the objective is met, and be corrected
 * again, forever. A limit is believed for an hour after it was last exceeded; then it is tried again.
 */
export interface LearnedLimit {
  /** Requests per second of one replica with which the objective was missed. */
  readonly perReplica: number;
  /** A load and the time that was measured with it, to compare with a lower one; undefined while requests waited. */
  readonly compared: LoadAndTime | undefined;
  /** Even a replica without load would miss it, as far as two measurements show. */
  readonly futile: boolean;
  /** When it was last missed, by the monotonic clock. */
  readonly at: number;
}

interface LoadAndTime {
  readonly perReplica: number;
  readonly measured: number;
}

/** Limits by what they are about. */
export type LearnedLimits = ReadonlyMap<LatencyIndicator, LearnedLimit>;

const BELIEVED_MS = 60 * 60_000;
/** Two loads are compared if the lower one is at most this part of the higher one. */
const RELIEVED = 0.7;
/** An objective is futile if the time without load exceeds it by more than measurements vary. */
const CERTAIN = 1.05;
/** Times in queues below this count as none: it is the lowest bound of vLLM's buckets. */
const UNQUEUED_SECONDS = 0.3;

/** The limits that are still believed. */
export function believedLimits(limits: LearnedLimits, now: number): LearnedLimits {
  return new Map([...limits].filter(([, { at }]) => now - at < BELIEVED_MS));
}

/** The limits after objectives were missed with `replicas`, all of which were ready all the time. */
export function learnedLimits(
  limits: LearnedLimits,
  missed: readonly MissedObjective[],
  { load, percentiles }: Pick<LoadMeasurement, "load" | "percentiles">,
  { replicas, now }: { readonly replicas: number; readonly now: number },
): LearnedLimits {
  const perReplica = load / replicas;
  // While requests wait, a replica is full whatever its part of the load: nothing can be said about its influence.
  const isUnqueued = (percentiles?.queueTime ?? Number.POSITIVE_INFINITY) <= UNQUEUED_SECONDS;
  const next = new Map(limits);
  for (const { indicator, measured, max } of missed) {
    const known = limits.get(indicator);
    const point = isUnqueued ? { perReplica, measured } : undefined;
    const compared = known?.compared;
    const isRelieved = point !== undefined && compared !== undefined && perReplica <= compared.perReplica * RELIEVED;
    next.set(indicator, {
      perReplica: Math.min(perReplica, known?.perReplica ?? perReplica),
      compared: isRelieved ? point : (compared ?? point),
      futile: known?.futile || (isRelieved && timeWithoutLoad(compared, point) > max * CERTAIN),
      at: now,
    });
  }
  return next;
}

/** Where the line through two measurements ends: times grow at least in proportion to the load, so it is not above the truth. */
function timeWithoutLoad(more: LoadAndTime, less: LoadAndTime): number {
  const slope = (more.measured - less.measured) / (more.perReplica - less.perReplica);
  return less.measured - slope * less.perReplica;
}

/** The fewest replicas that stay below the limits at this load. */
export function replicasWithinLimits(limits: LearnedLimits, load: number): number {
  const sizes = [...limits.values()]
    .filter(({ futile, perReplica }) => !futile && perReplica > 0)
    .map(({ perReplica }) => Math.floor(load / perReplica) + 1);
  return Math.max(0, ...sizes);
}

/** The objectives that more replicas do not help. */
export function futileObjectives(limits: LearnedLimits): ReadonlySet<LatencyIndicator> {
  return new Set([...limits].filter(([, { futile }]) => futile).map(([indicator]) => indicator));
}
