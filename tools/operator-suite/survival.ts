import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject, KindRef, KubeObject } from "@konverge/core";
import type { Operator } from "@konverge/runtime";
import { type ExploreOptions, explore, type FaultFamily, findingText, type Scenario } from "@konverge/testing";
import { embeddedOptions, type StageOptions } from "./declare.ts";

/** What may differ between two good runs is taken out of objects by `mask`. */
export interface SurvivalOptions extends StageOptions {
  readonly mask?: (object: AnyObject) => AnyObject;
}

/** `npm run test:proofs -- --sample`: so many times fewer writes and fields, and so many requests that fail. */
const SAMPLE = process.env["KONVERGE_PROOFS"] === "sample" ? { every: 5, runs: 15 } : undefined;

/** How a proof's options become those of its runs. */
function split<T extends SurvivalOptions & { readonly every?: number; readonly runs?: number }>(options: T) {
  const { time, nodes, namespace, kubectl, podSecurity, ...whole } = options;
  const { every = 1, runs = Number.POSITIVE_INFINITY } = whole;
  const proof = SAMPLE ? { ...whole, every: every * SAMPLE.every, runs: Math.min(runs, SAMPLE.runs) } : whole;
  const environment = {
    ...(time && { time }),
    ...(nodes && { nodes }),
    ...(namespace && { namespace }),
    ...(kubectl && { kubectl }),
    ...(podSecurity && { podSecurity }),
  };
  return { ...proof, environment: embeddedOptions(environment) };
}

/** Explores a scenario with one family of faults: there is something to try, and nothing is found. */
async function expectSurvival(scenario: Scenario, family: FaultFamily, options: ExploreOptions): Promise<void> {
  const { findings, tried } = await explore(scenario, { ...options, faults: [family] });
  assert.deepEqual(findings.map(findingText), []);
  assert.ok((tried[family] ?? 0) > 0, `there was nothing to try ${family} at`);
}

/**
 * Declares a test that plays a scenario once cleanly, then twice per write of its operators, crashing them right after the
 * write took effect (before and after they learn of it): it must always end as the clean run did.
 *
 * With `every: n` only each n-th write is tried: a sample for fast tests; all of them belong into `*.proof.test.ts`.
 */
export function survivesCrashes(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions & Pick<ExploreOptions, "every"> = {},
): void {
  test(name, async () => {
    await expectSurvival(scenario, "crash", split(options));
  });
}

/**
 * Declares a test that plays a scenario once cleanly, then fails one request of its operators in each run: 500, 429 with
 * Retry-After, a conflict, a connection that is cut before or after a write took effect, a watch that ends with 410. It
 * must always end as the clean run did.
 *
 * With `runs: n` so many requests and faults are chosen by `seed`: a sample for fast tests. Without it each write meets
 * each fault and each read one, which belongs into `*.proof.test.ts`.
 */
export function survivesApiErrors(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions & Pick<ExploreOptions, "runs" | "seed"> = {},
): void {
  test(name, async () => {
    await expectSurvival(scenario, "error", split(options));
  });
}

/**
 * Declares a test that plays a scenario once for each write of its operators and deletes all objects of a kind right after
 * it, in the background and in the foreground by turns: everything must be cleaned up, as it is when they are deleted at
 * the end of the scenario, and the operator must come to rest without complaints.
 *
 * With `every: n` only each n-th write is tried. `kept` tells what may stay in some phases only.
 */
export function survivesDeletion(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  kind: KindRef<KubeObject>,
  options: SurvivalOptions & Pick<ExploreOptions, "every" | "kept"> = {},
): void {
  test(name, async () => {
    await expectSurvival(scenario, "deletion", { ...split(options), kinds: [kind] });
  });
}

/**
 * Declares a test that plays a scenario to its end, then deletes each child of the operator's objects, and changes and
 * removes by hand each field that the operator has applied: everything must become as it was. A label and an annotation
 * that somebody adds must stay.
 *
 * With `every: n` only each n-th field is edited. `except` leaves out children, or fields by their JSON pointer, that are
 * somebody else's to change.
 */
export function repairsChildren(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions & Pick<ExploreOptions, "every" | "except"> = {},
): void {
  test(name, async () => {
    await expectSurvival(scenario, "drift", split(options));
  });
}

/**
 * Declares a test that plays a scenario to its end and deletes the operator's CRDs while it runs: all objects go, the
 * operator comes to rest, and when the CRDs are installed again the scenario ends as before with the same process.
 * The scenario is played twice in one namespace: what it makes besides the operator's objects, it must apply, not create.
 */
export function survivesCrdDeletion(
  name: string,
  _operator: Operator,
  scenario: Scenario,
  options: SurvivalOptions = {},
): void {
  test(name, async () => {
    await expectSurvival(scenario, "crd deletion", split(options));
  });
}
