import type { AnyObject } from "@konverge/core";
import type { TestEnvironmentOptions } from "../stage/embedded-ground.ts";
import { runScenario } from "../stage/embedded-stage.ts";
import type { FaultInjector } from "../stage/ground.ts";
import type { OperatorTestEnvironment } from "../stage/operator-stage.ts";
import type { Scenario } from "../stage/stage.ts";
import { endState } from "./end-state.ts";

/** What all proofs that compare end states have in common. */
export interface SurvivalOptions {
  readonly environment?: TestEnvironmentOptions;
  /** Takes out of an object what may differ between two good runs. */
  readonly mask?: (object: AnyObject) => AnyObject;
}

/** How a run of a scenario ended. */
export interface Ending {
  readonly state: Map<string, string>;
  /** How many writes the operators made, events aside. */
  readonly steps: number;
}

/** Virtual milliseconds in which an operator that has nothing to do must be quiet. */
const REST = 10 * 60_000;
/** So many requests in that time are routine: watches that end are opened again. */
const ROUTINE = 200;

/** Plays a scenario, waits until nothing happens any more, and tells how everything stands then. */
export async function playToEnd(
  scenario: Scenario,
  options: SurvivalOptions,
  fate: FaultInjector = {},
): Promise<Ending> {
  const ending = await runScenario(scenario, options.environment, fate, async (stage) => {
    await stage.settled();
    return { state: await endState(stage, options.mask), steps: stage.steps };
  });
  return ending!;
}

/**
 * What the operators of a stage do though there is nothing to do: writes, a hot loop of requests, or complaints, unless
 * they have a reason to complain.
 */
export async function restlessness(stage: OperatorTestEnvironment, hasReason = false): Promise<string[]> {
  const before = { writes: stage.writes(), requests: stage.requests, complaints: stage.warnings.length };
  await stage.advance(REST);
  const told: string[] = [];
  const writes = stage.writes() - before.writes;
  const requests = stage.requests - before.requests;
  const complaints = stage.warnings.slice(before.complaints);
  if (writes > 0) told.push(`the operator goes on writing: ${writes} times in ten minutes`);
  if (requests > ROUTINE) told.push(`the operator is in a hot loop: ${requests} requests in ten minutes`);
  if (complaints.length > 0 && !hasReason) {
    told.push(`the operator goes on complaining, ${complaints.length} times in ten minutes: ${complaints.at(-1)}`);
  }
  return told;
}

/** What went wrong in a run, in one line. */
export function failureText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
