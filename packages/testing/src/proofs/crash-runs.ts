import type { FaultInjector } from "../stage/ground.ts";
import type { Scenario } from "../stage/stage.ts";
import { endStateDifferences } from "./end-state.ts";
import { failureText, playToEnd, type SurvivalOptions } from "./play-to-end.ts";

/** How crashes are explored. */
export interface CrashRunOptions extends SurvivalOptions {
  /** Of many writes, only every so manieth is tried. Default: 1, all of them. */
  readonly every?: number;
}

/** What was found out by crashing an operator at each of its writes. */
export interface CrashFindings {
  /** How many writes the scenario took without a crash. */
  readonly writes: number;
  readonly runs: number;
  /** Empty, if it survives. */
  readonly problems: readonly string[];
}

const MOMENTS = ["before the answer", "after the answer"] as const;

/**
 * Plays a scenario once cleanly, then twice for each write that the operators make: they are crashed right after the write
 * took effect, before or after they learn of it, and start afresh. Each run must end as the clean one did.
 */
export async function crashRuns(scenario: Scenario, options: CrashRunOptions = {}): Promise<CrashFindings> {
  const { every = 1 } = options;
  const clean = await playToEnd(scenario, options);
  const problems: string[] = [];
  let runs = 1;
  for (let at = 1; at <= clean.steps; at += every) {
    for (const moment of MOMENTS) {
      const where = `crashed at write ${at} of ${clean.steps}, ${moment}`;
      let crashed = false;
      runs++;
      try {
        const fate: FaultInjector = {
          crashAt(write) {
            if (crashed || write !== at) return undefined;
            crashed = true;
            return moment;
          },
        };
        const { state } = await playToEnd(scenario, options, fate);
        if (!crashed) problems.push(`${where}: that write was never made; two runs of the scenario differ`);
        for (const problem of endStateDifferences(clean.state, state)) problems.push(`${where}: ${problem}`);
      } catch (error) {
        problems.push(`${where}: ${failureText(error)}`);
      }
    }
  }
  return { writes: clean.steps, runs, problems };
}
