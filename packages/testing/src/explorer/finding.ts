import type { Fault } from "./fault.ts";
import type { FaultFamily } from "./fault-family.ts";
import type { Timeline } from "./timeline.ts";

/** Something that is wrong with the operator, with the fewest faults that show it. */
export interface Finding {
  /** The name of the oracle that found it. */
  readonly oracle: string;
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** The fewest faults with which it happens; empty if it happens without any, or was done to the scenario as a whole. */
  readonly faults: readonly Fault[];
  /** Replays the run, together with `faults`. */
  readonly seed: number;
  /** What happened in the run with these faults. */
  readonly timeline: Timeline;
  /** In how many runs the same oracle reported this. */
  readonly runs: number;
  /** Other faults that show the same; at most twenty. */
  readonly also?: readonly (readonly Fault[])[];
}

/** How far an exploration is. */
export interface ExploreProgress {
  readonly done: number;
  /** The runs that are known to come, and those that are done. */
  readonly total: number;
  readonly findings: number;
  /** What was just tried: `no fault`, the faults, or what was done to the scenario as a whole. */
  readonly tried: string;
}

/** The result of an exploration. */
export interface Exploration {
  readonly seed: number;
  /** All runs, the clean ones included. */
  readonly runs: number;
  /** The points of the clean run at which faults were tried. */
  readonly points: number;
  /** How many faults of each family were tried. */
  readonly tried: Readonly<Partial<Record<FaultFamily, number>>>;
  /** Points and faults that were not tried, since an equivalent one was: same fault, same request or event, same state. */
  readonly pruned: number;
  /** Faults that passed in an earlier exploration, by the option `passed`, and were not tried again. They count as tried. */
  readonly earlier: number;
  /** Pairs of a state and a type of fault that were reached. */
  readonly covered: number;
  /** Whether two runs with the same seed had the same timeline. If not, no seed can replay a finding. */
  readonly deterministic: boolean;
  /** Why the exploration ended before all faults of depth 1 were tried, if it did. */
  readonly stopped: string | undefined;
  /** Empty if the operator passed. */
  readonly findings: readonly Finding[];
  /** What was found again of the findings that were accepted before. */
  readonly accepted: readonly Finding[];
}
