import {
  type RequiredReplicas,
  requiredReplicas,
  SCALE_DOWN_RESERVE,
  type SizingRules,
  stabilizedSize,
} from "./decide.ts";
import { MEASUREMENT_WINDOW_MS, type SizingState } from "./load-watch.ts";
import type { LoadMeasurement } from "./measurement.ts";

/** The input for the next size. */
export interface SizingInput {
  readonly rules: SizingRules;
  readonly measured: LoadMeasurement | undefined;
  /** The last size, and whether it was based on measurements. */
  readonly last: { readonly replicas: number; readonly byMeasurement: boolean };
  /** The current number of replicas, and how many of them are ready. */
  readonly current: number | undefined;
  readonly ready: number;
  /** Milliseconds of the monotonic clock. */
  readonly monotonic: number;
}

/** A size and its reason. `kept`: it stays, because nothing is measured at the moment. */
export interface CorrectedSize {
  readonly replicas: number;
  readonly need: RequiredReplicas;
  readonly kept: boolean;
}

/** The size that follows from the measurements and from `memory`, which it updates. */
export function correctedSize(
  { rules, measured, last, current, ready, monotonic }: SizingInput,
  memory: SizingState,
): CorrectedSize {
  const most = Math.min(rules.max, rules.affordable ?? rules.max);
  if (measured?.draining) memory.drainedAt = monotonic;
  const unsteadyAt = Math.max(memory.changedAt, memory.drainedAt ?? Number.NEGATIVE_INFINITY);
  // Latency is meaningful for a size only if all of it was ready all the time, and had no queue of earlier times to work off.
  const isSteady = ready >= (current ?? 0) && monotonic - unsteadyAt >= MEASUREMENT_WINDOW_MS;
  const up = requiredReplicas(rules, measured, isSteady ? current : undefined);
  if (!measured && rules.load === undefined && last.byMeasurement) {
    return { replicas: Math.min(Math.max(last.replicas, rules.min), most), need: up, kept: true };
  }
  const down = requiredReplicas(rules, measured, undefined, SCALE_DOWN_RESERVE);
  const wanted = { up: up.replicas, down: Math.max(up.replicas, down.replicas) };
  const settled = stabilizedSize(monotonic, last.replicas, wanted, memory.recent, rules.downAfter);
  memory.recent = settled.recent;
  return { replicas: Math.min(settled.replicas, Math.max(most, 0)), need: up, kept: false };
}
