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
  familyOf,
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
  /** Whether the finding occurs again with its faults and its seed. */
  readonly confirmed: boolean;
  /** Whether nothing is found once the families in `shownBy` are switched off; false for what needs no fault. */
  readonly isLost: boolean;
  /** The families of faults that show it, in the order in which they were switched off; empty if it needs no fault. */
  readonly shownBy: readonly FaultFamily[];
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

/**
 * Explores both reconcilers of a pattern. The search for the fault ends with the first finding. Unless `isJudged` is false, it goes on
 * without the faults that show it.
 */
export async function tryPattern(
  pattern: Pattern,
  seed: number,
  faults?: readonly FaultFamily[],
  isJudged = true,
): Promise<PatternResult> {
  const clock = realClock();
  const start = clock.monotonic();
  const faulty = await load(pattern, "faulty.ts");
  const tried = faults ?? POINT_FAMILIES;
  const first = await exploreSubject(faulty, { seed, findings: 1, faults: tried });
  const [found] = first.findings;
  const confirmed = found !== undefined && (await isConfirmed(faulty, found));
  const off = isJudged
    ? await switchedOff(faulty, found, tried, seed)
    : { isLost: true, shownBy: (found?.faults ?? []).map(({ type }) => familyOf(type)), runs: 0 };
  const fixed = await exploreSubject(await load(pattern, "fixed.ts"), { seed, faults: tried });
  return {
    pattern,
    found,
    confirmed,
    ...off,
    alarms: fixed.findings,
    runs: first.runs + off.runs + fixed.runs,
    ms: clock.monotonic() - start,
  };
}

/** Explores again without the family of the fault that showed the mistake, and without the next one, until nothing shows it. */
async function switchedOff(
  subject: Subject,
  found: Finding | undefined,
  tried: readonly FaultFamily[],
  seed: number,
): Promise<Pick<PatternResult, "isLost" | "shownBy" | "runs">> {
  const shownBy: FaultFamily[] = [];
  let runs = 0;
  for (let finding = found; finding; ) {
    const families = finding.faults.map(({ type }) => familyOf(type)).filter((family) => !shownBy.includes(family));
    if (families.length === 0) return { isLost: false, shownBy, runs };
    shownBy.push(...families);
    const rest = tried.filter((family) => !shownBy.includes(family));
    const again = await exploreSubject(subject, { seed, findings: 1, faults: rest });
    runs += again.runs;
    [finding] = again.findings;
  }
  return { isLost: found !== undefined, shownBy, runs };
}

async function load({ folder }: Pattern, file: string): Promise<Subject> {
  return (await import(pathToFileURL(join(folder, file)).href)) as Subject;
}

function exploreSubject({ scenario, invariants = [] }: Subject, options: ExploreOptions): Promise<Exploration> {
  return explore(scenario, { faults: POINT_FAMILIES, ...options, invariants });
}

/** With its faults and its seed it must occur again, with the same timeline. */
async function isConfirmed({ scenario, invariants = [] }: Subject, finding: Finding): Promise<boolean> {
  const options = { invariants };
  const again = await replay(scenario, finding, options);
  const isSame = JSON.stringify(again.timeline) === JSON.stringify(finding.timeline);
  return isSame && finding.faults.length === again.faults.length;
}
