import type { FaultInjector } from "../environment/test-backend.ts";
import type { Scenario } from "../environment/test-environment.ts";
import { runDifferences } from "../explorer/end-state.ts";
import { failureText, playToEnd, type SurvivalOptions } from "./play-to-end.ts";

/** Options of {@link crashRuns}. */
export interface CrashRunOptions extends SurvivalOptions {
  /** Crash at every Nth write only. Default: 1, every write. */
  readonly every?: number;
}

/** The result of {@link crashRuns}. */
export interface CrashFindings {
  /** The number of writes of the scenario without a crash. */
  readonly writes: number;
  readonly runs: number;
  /** Empty if the operator survives every crash. */
  readonly problems: readonly string[];
}

const MOMENTS = ["before the answer", "after the answer"] as const;

/**
 * Runs a scenario once without a fault, then twice for each write of the operators: they crash right after the write took
 * effect, before or after they receive the response, and start again. Every run must end in the same state as the first.
 *
 * ```ts
 * const { problems } = await crashRuns(scenario);
 * assert.deepEqual(problems, []);
 * ```
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
        const faults: FaultInjector = {
          crashAt(write) {
            if (crashed || write !== at) return undefined;
            crashed = true;
            return moment;
          },
        };
        const { state } = await playToEnd(scenario, options, faults);
        if (!crashed) problems.push(`${where}: that write was never made; two runs of the scenario differ`);
        for (const problem of runDifferences(clean.state, state)) problems.push(`${where}: ${problem}`);
      } catch (error) {
        problems.push(`${where}: ${failureText(error)}`);
      }
    }
  }
  return { writes: clean.steps, runs, problems };
}
