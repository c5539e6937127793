import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { realClock } from "@konverge/core";
import {
  type Exploration,
  type ExploreOptions,
  explore,
  type FaultFamily,
  type Finding,
  type Invariant,
  POINT_FAMILIES,
  replay,
  type Scenario,
} from "@konverge/testing";

/** What each `faulty.ts` and `fixed.ts` exports. */
export interface Subject {
  readonly scenario: Scenario;
  readonly invariants?: readonly Invariant[];
}

/** A pattern: a reconciler with a fault, and the same without it. */
export interface Pattern {
  readonly name: string;
  readonly folder: string;
}

/** How a pattern did under one seed. */
export interface PatternResult {
  readonly pattern: Pattern;
  /** Undefined if the fault was not found. */
  readonly found: Finding | undefined;
  /** Whether the finding occurs again with its faults and its seed, and not without them. */
  readonly confirmed: boolean;
  /** What was reported of the reconciler without the fault: false alarms. */
  readonly alarms: readonly Finding[];
  readonly runs: number;
  readonly ms: number;
}

/** The patterns in a folder: `NN-name/{faulty,fixed}.ts`, in order. */
export function patternsIn(folder: string): Pattern[] {
  return readdirSync(folder)
    .filter((name) => /^\d+-/.test(name) && existsSync(join(folder, name, "faulty.ts")))
    .sort()
    .map((name) => ({ name, folder: resolve(folder, name) }));
}

/** Explores both reconcilers of a pattern. The search for the fault ends with the first finding. */
export async function tryPattern(
  pattern: Pattern,
  seed: number,
  faults?: readonly FaultFamily[],
): Promise<PatternResult> {
  const clock = realClock();
  const start = clock.monotonic();
  const faulty = await load(pattern, "faulty.ts");
  const first = await exploreSubject(faulty, { seed, findings: 1, ...(faults && { faults }) });
  const [found] = first.findings;
  const confirmed = found !== undefined && (await isConfirmed(faulty, found));
  const fixed = await exploreSubject(await load(pattern, "fixed.ts"), { seed, ...(faults && { faults }) });
  return {
    pattern,
    found,
    confirmed,
    alarms: fixed.findings,
    runs: first.runs + fixed.runs,
    ms: clock.monotonic() - start,
  };
}

async function load({ folder }: Pattern, file: string): Promise<Subject> {
  return (await import(pathToFileURL(join(folder, file)).href)) as Subject;
}

function exploreSubject({ scenario, invariants = [] }: Subject, options: ExploreOptions): Promise<Exploration> {
  return explore(scenario, { faults: POINT_FAMILIES, ...options, invariants });
}

/** With each of its faults switched off the finding must be lost; what needs no fault must occur without one. */
async function isConfirmed({ scenario, invariants = [] }: Subject, finding: Finding): Promise<boolean> {
  const options = { invariants };
  const again = await replay(scenario, finding, options);
  const isSame = JSON.stringify(again.timeline) === JSON.stringify(finding.timeline);
  return isSame && finding.faults.length === again.faults.length;
}
