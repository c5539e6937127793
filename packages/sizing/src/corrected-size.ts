import {
  type RequiredReplicas,
  requiredReplicas,
  SCALE_DOWN_RESERVE,
  type SizingRules,
  stabilizedSize,
} from "./decide.ts";
import { MEASUREMENT_WINDOW_MS, type SizingState } from "./load-watch.ts";
import type { LoadMeasurement } from "./measurement.ts";

/** What is known when a size is corrected. */
export interface SizingInput {
  readonly rules: SizingRules;
  readonly measured: LoadMeasurement | undefined;
  /** The size that was decided last, and whether it followed from what was measured. */
  readonly last: { readonly replicas: number; readonly byMeasurement: boolean };
  /** The current number of replicas, and how many of them are ready. */
  readonly current: number | undefined;
  readonly ready: number;
  /** Milliseconds on the clock that only grows. */
  readonly monotonic: number;
}

/** A size, and what it follows from. `kept`: it stays, since nothing is measured for a while. */
export interface CorrectedSize {
  readonly replicas: number;
  readonly need: RequiredReplicas;
  readonly kept: boolean;
}

/** The size that follows from what is measured and from the past, which `memory` keeps and is brought up to date with. */
export function correctedSize(
  { rules, measured, last, current, ready, monotonic }: SizingInput,
  memory: SizingState,
): CorrectedSize {
  const most = Math.min(rules.max, rules.affordable ?? rules.max);
  // Latency says something about a size only when all of it was at work all the time.
  const isSteady = ready >= (current ?? 0) && monotonic - memory.changedAt >= MEASUREMENT_WINDOW_MS;
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
