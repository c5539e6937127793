import {
  type RequiredReplicas,
  requiredReplicas,
  SCALE_DOWN_RESERVE,
  type SizingRules,
  stabilizedSize,
} from "./decide.ts";
import { believedLimits, futileObjectives, type LearnedLimits, learnedLimits } from "./learned-limits.ts";
import { MEASUREMENT_WINDOW_MS, type SizingState } from "./load-watch.ts";
import type { LoadMeasurement } from "./measurement.ts";
import { isMissed, type LatencyIndicator, objectiveResults } from "./objectives.ts";

/** An objective that is missed by more than this is corrected at once. */
const TOLERANCE = 1.1;

/** The input for the next size. */
export interface SizingInput {
  readonly rules: SizingRules;
  readonly measured: LoadMeasurement | undefined;
  /** The last size, whether it was based on measurements, and whether a bound kept it below what was needed. */
  readonly last: { readonly replicas: number; readonly byMeasurement: boolean; readonly isCapped?: boolean };
  /** The current number of replicas, and how many of them are ready. */
  readonly current: number | undefined;
  readonly ready: number;
  /** Milliseconds of the monotonic clock. */
  readonly monotonic: number;
  /** Changes with what the replicas run: what was learned about others is forgotten. */
  readonly revision?: string | undefined;
}

/** A size and its reason. `kept`: it stays, because nothing is measured at the moment. */
export interface CorrectedSize {
  readonly replicas: number;
  readonly need: RequiredReplicas;
  readonly kept: boolean;
  /** Objectives that are missed whatever the number of replicas. */
  readonly futile: ReadonlySet<LatencyIndicator>;
}

/** The size that follows from the measurements and from `memory`, which it updates. */
export function correctedSize(
  { rules, measured, last, current, ready, monotonic, revision }: SizingInput,
  memory: SizingState,
): CorrectedSize {
  const most = Math.min(rules.max, rules.affordable ?? rules.max);
  if (measured?.draining) memory.drainedAt = monotonic;
  const unsteadyAt = Math.max(memory.changedAt, memory.drainedAt ?? Number.NEGATIVE_INFINITY);
  // Latency is meaningful for a size only if all of it was ready all the time, and had no queue of earlier times to work off.
  const isSteady = ready >= (current ?? 0) && monotonic - unsteadyAt >= MEASUREMENT_WINDOW_MS;
  const missed = objectiveResults(rules, measured).filter(isMissed);
  memory.missedSince = missed.length > 0 ? (memory.missedSince ?? monotonic) : undefined;
  if (missed.length > 0) memory.missedAt = monotonic;
  // A minute that is slightly too slow can be chance; two in a row are not.
  const isCertain =
    missed.some(({ measured: time, max }) => time > max * TOLERANCE) ||
    (memory.missedSince !== undefined && monotonic - memory.missedSince >= MEASUREMENT_WINDOW_MS);
  const isMeaningful = isSteady && isCertain;
  let limits: LearnedLimits =
    memory.revision === revision ? believedLimits(memory.limits ?? new Map(), monotonic) : new Map();
  if (measured && measured.load > 0 && current && isMeaningful)
    limits = learnedLimits(limits, missed, measured, { replicas: current, now: monotonic });
  memory.limits = limits;
  memory.revision = revision;
  const learned = { limits, kept: last.replicas };
  const futile = futileObjectives(limits);
  const up = requiredReplicas(rules, measured, isMeaningful ? current : undefined, 1, learned);
  if (!measured && rules.load === undefined && last.byMeasurement) {
    // What was too small is not kept without its bound.
    const least = last.isCapped ? Math.max(last.replicas, up.replicas) : last.replicas;
    const kept = least === last.replicas;
    return { replicas: Math.min(Math.max(least, rules.min), most), need: up, kept, futile };
  }
  const down = requiredReplicas(rules, measured, undefined, SCALE_DOWN_RESERVE, learned);
  const wanted = { up: up.replicas, down: Math.max(up.replicas, down.replicas) };
  const settled = stabilizedSize(monotonic, last.replicas, wanted, memory.recent, rules.downAfter);
  memory.recent = settled.recent;
  return { replicas: Math.min(settled.replicas, Math.max(most, 0)), need: up, kept: false, futile };
}
