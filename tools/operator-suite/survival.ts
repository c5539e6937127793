import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type AnyObject, type KindRef, type KubeObject, realClock } from "@konverge/core";
import type { Operator } from "@konverge/runtime";
import {
  assertNoFindings,
  type ExploreOptions,
  explorationText,
  explore,
  type FaultFamily,
  POINT_FAMILIES,
  passedFaultsIn,
  type Scenario,
} from "@konverge/testing";
import { embeddedOptions, type StageOptions } from "./declare.ts";
import { passedFile } from "./passed-file.ts";

/** What may differ between two good runs is taken out of objects by `mask`. */
export interface SurvivalOptions extends StageOptions {
  readonly mask?: (object: AnyObject) => AnyObject;
  /**
   * Containers take seconds to start, to become ready and to end, as in other explorations. Default: they do it at once, unless their
   * pods say otherwise.
   */
  readonly slow?: boolean;
}

/**
 * `npm run test:proofs -- --sample`: every fifth write and field, and a few faults that the seed chooses. It changes from day to
 * day, so that in time all are tried.
 */
const SAMPLE = process.env["KONVERGE_PROOFS"] === "sample" ? { every: 5, runs: 4 } : undefined;
const SEED = Number(process.env["KONVERGE_PROOFS_SEED"] ?? 1);

/** `--depth 1`: no pairs of faults. */
const DEPTH = Number(process.env["KONVERGE_PROOFS_DEPTH"] ?? 2);
/** `--continue`: what passed with the same code is not run again. */
const CONTINUES = process.env["KONVERGE_PROOFS_CONTINUE"] === "yes";

/** For scenarios whose faults have not been tried with enough seeds in a slow cluster yet. */
const AT_ONCE = {};
/** Evicted and unready pods, and Jobs that fail, have been tried in too few runs: the guide of the explorer says in which. */
const FAMILIES = POINT_FAMILIES.filter((family) => family !== "application");

/** Splits the options of a survival test from those of its environment. */
function split<T extends SurvivalOptions & { readonly every?: number; readonly runs?: number }>(options: T) {
  const { time, nodes, namespace, kubectl, podSecurity, slow = false, ...whole } = options;
  const { every = 1, runs = Number.POSITIVE_INFINITY } = whole;
  const proof = SAMPLE ? { ...whole, every: every * SAMPLE.every, runs: Math.min(runs, SAMPLE.runs) } : whole;
  const environment = {
    ...(!slow && { containers: AT_ONCE }),
    ...(time && { time }),
    ...(nodes && { nodes }),
    ...(namespace && { namespace }),
    ...(kubectl && { kubectl }),
    ...(podSecurity && { podSecurity }),
  };
  return { ...proof, environment: embeddedOptions(environment) };
}

/** Explores a scenario with these families of faults: there is something to try, and nothing is found. */
async function expectSurvival(
  test: TestContext,
  scenario: Scenario,
  faults: readonly FaultFamily[],
  options: ExploreOptions,
): Promise<void> {
  const clock = realClock();
  const start = clock.monotonic();
  const passed = CONTINUES ? { passed: passedFaultsIn(...passedFile(test.name, options.seed ?? SEED)) } : {};
  const exploration = await explore(scenario, { seed: SEED, ...options, ...passed, faults });
  const seconds = ((clock.monotonic() - start) / 1000).toFixed(0);
  test.diagnostic(`explored "${test.name}": ${explorationText(exploration)}, ${seconds} s`);
  assertNoFindings(exploration);
  assert.ok(Object.keys(exploration.tried).length > 0, `there was nothing to try ${faults.join(", ")} at`);
}

/**
 * Declares a test that explores a scenario with every fault at every point of a run: crashes, errors, late and stale reads, missed
 * events, pauses, other writers, lost nodes. It must always end as the run without faults did. Then pairs of faults are tried, a
 * limited number of them.
 */
export function survivesFaults(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions & Pick<ExploreOptions, "runs" | "seed" | "invariants"> = {},
): void {
  test(name, (context) => expectSurvival(context, scenario, FAMILIES, { depth: DEPTH, ...split(options) }));
}

/** The same with crashes and errors only, one at a time: for further scenarios of an operator, whose other faults are tried elsewhere. */
export function survivesCrashesAndErrors(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions & Pick<ExploreOptions, "runs" | "seed"> = {},
): void {
  test(name, (context) => expectSurvival(context, scenario, ["crash", "error"], split(options)));
}

/**
 * Declares a test that plays a scenario to its end, then changes each field of the objects' specs and changes it back: all must be
 * as it was. Some of these specs are bad, and the operator must recover from them. Without `runs` all changes are tried.
 */
export function survivesSpecChanges(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions & Pick<ExploreOptions, "runs" | "seed" | "except"> = {},
): void {
  test(name, (context) => expectSurvival(context, scenario, ["spec"], split(options)));
}

/**
 * Declares a test that runs a scenario once for each write of its operators and deletes all objects of a kind right after
 * it, alternately in the background and in the foreground: everything must be cleaned up, as it is when they are deleted at
 * the end of the scenario, and the operator must become idle without warnings.
 *
 * With `every: n` only every nth write is tried. `kept` selects what may stay in some phases only.
 */
export function survivesDeletion(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  kind: KindRef<KubeObject>,
  options: SurvivalOptions & Pick<ExploreOptions, "every" | "kept"> = {},
): void {
  test(name, (context) => expectSurvival(context, scenario, ["deletion"], { ...split(options), kinds: [kind] }));
}

/**
 * Declares a test that runs a scenario to its end, then deletes each child of the operator's objects, and edits and removes
 * each field that the operator has applied: everything must be repaired. A label and an annotation that another client adds
 * must stay.
 *
 * With `every: n` only every nth field is edited. `except` excludes children, or fields by their JSON pointer, that others
 * may change.
 */
export function repairsChildren(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions & Pick<ExploreOptions, "every" | "except"> = {},
): void {
  test(name, (context) => expectSurvival(context, scenario, ["drift"], split(options)));
}

/**
 * Declares a test that runs a scenario to its end and deletes the operator's CRDs while it runs: all objects are deleted, the
 * operator becomes idle, and when the CRDs are installed again the scenario ends as before with the same process.
 * The scenario runs twice in one namespace: objects other than the operator's must be applied, not created.
 */
export function survivesCrdDeletion(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions = {},
): void {
  test(name, (context) => expectSurvival(context, scenario, ["crd deletion"], split(options)));
}
