import { type AnyObject, type KindRef, type KubeObject, type Random, seededRandom } from "@konverge/core";
import { type RunnableOperator, runnable } from "../environment/runnable-operator.ts";
import type { Scenario } from "../environment/test-environment.ts";
import { announcedProgress } from "./announced-progress.ts";
import { endStateMask } from "./end-state.ts";
import { exploredRun, type PlayedRun, type RunOptions } from "./explored-run.ts";
import { externalOracles } from "./external-oracles.ts";
import { type Fault, faultText } from "./fault.ts";
import { type FaultCandidate, faultCandidates } from "./fault-candidates.ts";
import { FAULT_FAMILIES, type FaultFamily, familyOf, isPass } from "./fault-family.ts";
import type { Exploration, ExploreProgress, Finding } from "./finding.ts";
import { type AcceptedFinding, Findings } from "./findings.ts";
import { type ExplorationLimits, ExplorationStopped, Limits } from "./limits.ts";
import { merged, passFinding } from "./merged-explorations.ts";
import type { ExploredRun, Oracle } from "./oracle.ts";
import { oracles } from "./oracles.ts";
import { type ExplorationPart, inPart, isFirst } from "./part.ts";
import type { PassedFaults } from "./passed-faults.ts";
import { crdDeletionPass } from "./passes/crd-deletion.ts";
import { deletionPass } from "./passes/deletion.ts";
import { driftPass } from "./passes/drift.ts";
import type { PassOptions, PassProblem, PassResult } from "./passes/pass.ts";
import { rbacPass } from "./passes/rbac.ts";
import { specPass } from "./passes/spec.ts";

/** Options of {@link explore}. */
export interface ExploreOptions extends Omit<RunOptions, "reached">, ExplorationLimits {
  /** The families of faults to try. Default: all. */
  readonly faults?: readonly FaultFamily[];
  /** Try every Nth fault, write or field only: for long scenarios. Default: 1. */
  readonly every?: number;
  /** For `deletion`: the kinds whose objects are deleted. Default: all that the operator installs. */
  readonly kinds?: readonly KindRef<KubeObject>[];
  /** For `deletion`: objects that the operator leaves on purpose, such as a backup. */
  readonly kept?: (object: AnyObject) => boolean;
  /** For `drift` and `spec`: children, or fields by JSON pointer, that are not changed: another controller may, or it is final. */
  readonly except?: (child: AnyObject, pointer?: string) => boolean;
  /** For `rbac`: report what the role allows and no scenario needs. Default: true; with objects that were generated, false. */
  readonly unusedPermissions?: boolean;
  /** How many faults a run has at most. Depth 1 tries every fault at every point; what is deeper is searched at random. Default: 1. */
  readonly depth?: number;
  /** Decides what chance decides, in the cluster and in the search. Default: 1. */
  readonly seed?: number;
  /** Try at most this many faults of each depth, chosen by the seed. Default: all of depth 1, and 200 of each further depth. */
  readonly runs?: number;
  /**
   * Try only faults whose description contains this text, such as that of a finding's fault; what is done to a scenario as a whole is
   * left out. Default: all.
   */
  readonly only?: string;
  /** Stop after this many findings. Default: 10. */
  readonly findings?: number;
  /** Findings that are known: they are returned separately, and do not count. Default: none. */
  readonly accepted?: readonly AcceptedFinding[];
  /**
   * The faults that nothing was found with, such as those {@link passedFaultsIn} a file: they are not tried again, and what passes
   * is added. Depth 1 only. Default: none.
   */
  readonly passed?: PassedFaults;
  /** Try only this part: several processes with one each try everything, and {@link mergedParts} adds up their results. Default: all. */
  readonly part?: ExplorationPart;
  /** Called after each run. Default: prints a line to standard error every ten seconds. */
  onProgress?(progress: ExploreProgress): void;
  /** Called with each finding as soon as it is found. Default: nothing. */
  onFinding?(finding: Finding): void;
  /** Judge runs by these as well. */
  readonly oracles?: readonly Oracle[];
}

const DEEPER_RUNS = 200;

/**
 * Runs a scenario without faults, then again with faults at every point of that run: each request of the operator, each watch
 * event that it receives, each write of the user. Every run is judged by oracles; the most important is that it ends in the
 * same state as the run without faults. What differs between two runs without faults is masked.
 *
 * Several scenarios are explored one after the other; their permissions count together.
 *
 * ```ts
 * assertNoFindings(await explore(scenario, { faults: ["crash", "stale"] }));
 * ```
 */
export async function explore(
  scenario: Scenario | readonly Scenario[],
  options: ExploreOptions = {},
): Promise<Exploration> {
  const scenarios = typeof scenario === "function" ? [scenario] : scenario;
  const results: Exploration[] = [];
  const isRoleOnly = options.faults?.every((family) => family === "rbac");
  const progress = new Progress(options.onProgress ?? announcedProgress());
  const { reached } = new Limits(options);
  const limited = { ...options, reached };
  // What a scenario has found is not new in the next one.
  const findings = new Findings(options.accepted, options.onFinding);
  if (!isRoleOnly) {
    for (const [i, one] of scenarios.entries()) {
      if (i > 0 && reached()) break;
      results.push(await new Search(one, i, limited, progress, findings).run());
    }
  }
  const role = await roleResult(scenarios, limited, progress, findings);
  const whole = merged(role ? [...results, role] : results);
  return { ...whole, findings: findings.all, accepted: findings.accepted };
}

/** Runs a scenario with the faults and the seed of a finding: what happens is the same again. */
export async function replay(
  scenario: Scenario,
  { faults, seed }: Pick<Finding, "faults" | "seed">,
  options: RunOptions = {},
): Promise<ExploredRun> {
  return exploredRun(scenario, faults, seed, options);
}

/** Counts the runs of all scenarios. */
class Progress {
  readonly #report: ExploreOptions["onProgress"];
  #done = 0;
  #total = 0;
  #findings = 0;

  constructor(report: ExploreOptions["onProgress"]) {
    this.#report = report;
  }

  expect(runs: number): void {
    this.#total += runs;
  }

  found(): void {
    this.#findings++;
  }

  did(tried: string, runs = 1): void {
    this.#done += runs;
    this.#total = Math.max(this.#total, this.#done);
    this.#report?.({ done: this.#done, total: this.#total, findings: this.#findings, tried });
  }
}

/** The options of an exploration whose limits count from its start. */
type LimitedOptions = ExploreOptions & Required<Pick<RunOptions, "reached">>;

class Search {
  readonly #scenario: Scenario;
  /** The place of the scenario among all that are explored. */
  readonly #index: number;
  readonly #options: LimitedOptions;
  readonly #progress: Progress;
  readonly #seed: number;
  readonly #random: Random;
  readonly #findings: Findings;
  readonly #covered = new Set<string>();
  /** Faults after a first one, at states that no run has reached with them. */
  readonly #frontier: { readonly faults: readonly Fault[]; readonly key: string }[] = [];
  readonly #tried: Partial<Record<FaultFamily, number>> = {};
  #runs = 0;
  #pruned = 0;
  #earlier = 0;

  constructor(scenario: Scenario, index: number, options: LimitedOptions, progress: Progress, findings: Findings) {
    this.#scenario = scenario;
    this.#index = index;
    this.#options = options;
    this.#progress = progress;
    this.#seed = options.seed ?? 1;
    this.#random = seededRandom(this.#seed);
    this.#findings = findings;
  }

  async run(): Promise<Exploration> {
    let [points, deterministic] = [0, true];
    let stopped: string | undefined;
    try {
      const { clean, judges, ...rest } = await this.#cleanRuns();
      deterministic = rest.deterministic;
      // A scenario that fails without faults says nothing about what faults do to it.
      const candidates = clean.endState ? this.#chosen(this.#candidates(clean)) : [];
      // The same in all parts: one of them counts it.
      if (!isFirst(this.#options.part)) this.#pruned = 0;
      points = new Set(candidates.map(({ fault }) => JSON.stringify(fault.at))).size;
      this.#progress.expect(candidates.length);
      stopped = await this.#all(candidates, clean, judges);
      for (let level = 2; level <= (this.#options.depth ?? 1) && !stopped; level++)
        await this.#deeper(level, clean, judges);
      if (clean.endState && !stopped && this.#options.only === undefined) await this.#passes(clean);
    } catch (error) {
      if (!(error instanceof ExplorationStopped)) throw error;
      stopped = error.message;
    }
    return {
      seed: this.#seed,
      runs: this.#runs,
      points,
      tried: this.#tried,
      pruned: this.#pruned,
      earlier: this.#earlier,
      covered: this.#covered.size,
      deterministic,
      stopped,
      findings: [],
      accepted: [],
    };
  }

  /** The runs without faults, and the judges that know what these do not share. */
  async #cleanRuns() {
    const clean = await this.#play([]);
    const isPassOnly = this.#options.faults?.every((family) => isPass(family)) ?? false;
    const again = isPassOnly ? clean : await this.#play([]);
    const other = isPassOnly ? clean : await this.#play([], this.#seed + 1);
    const mask = clean.endState && other.endState ? endStateMask(clean.endState, other.endState) : new Set<string>();
    const judges = [...oracles(mask), ...externalOracles(clean, other), ...(this.#options.oracles ?? [])];
    for (const [oracle, message] of judged(judges, clean, clean)) this.#keep(oracle, message, clean);
    return { clean, judges, deterministic: isSameTimeline(clean, again) };
  }

  /** Tries these faults one after the other; returns why not all, if not. */
  async #all(
    candidates: readonly FaultCandidate[],
    clean: PlayedRun,
    judges: readonly Oracle[],
  ): Promise<string | undefined> {
    const { depth = 1, passed } = this.#options;
    for (const { fault, key } of candidates) {
      const stopped = this.#exhausted();
      if (stopped) return stopped;
      this.#covered.add(key);
      this.#count(familyOf(fault.type), 1);
      const name = JSON.stringify([this.#index, fault]);
      // What follows a fault is found by running with it: pairs need the run.
      if (depth === 1 && passed?.has(name)) this.#earlier++;
      else if (await this.#try([fault], clean, judges, depth > 1)) passed?.add(name);
    }
    return undefined;
  }

  /** All faults of a run but those to which another is equivalent. */
  #candidates(run: ExploredRun): FaultCandidate[] {
    const all = faultCandidates(run, this.#options.faults ?? FAULT_FAMILIES, this.#random);
    const distinct = new Map<string, FaultCandidate>();
    for (const candidate of all) if (!distinct.has(candidate.key)) distinct.set(candidate.key, candidate);
    this.#pruned += all.length - distinct.size;
    return [...distinct.values()];
  }

  /** This part of all faults. Those at the same point are in the same part. */
  #chosen(all: readonly FaultCandidate[]): readonly FaultCandidate[] {
    const byPoint = Map.groupBy(this.#sample(all), ({ fault }) => JSON.stringify(fault.at));
    return inPart([...byPoint.values()], this.#options.part).flat();
  }

  /** A sample, if one was asked for: the same for the same seed. */
  #sample(all: readonly FaultCandidate[]): readonly FaultCandidate[] {
    const { every = 1, runs, only = "" } = this.#options;
    const named = all.filter(({ fault }) => faultText(fault).includes(only));
    const some = named.filter((_, i) => i % every === 0);
    if (runs === undefined || runs >= some.length) return some;
    const order = new Map(some.map((candidate, i) => [candidate, i]));
    const rest = [...some];
    const sample = Array.from({ length: runs }, () => rest.splice(this.#random.below(rest.length), 1)[0]!);
    return sample.sort((a, b) => order.get(a)! - order.get(b)!);
  }

  #count(family: FaultFamily, count: number): void {
    this.#tried[family] = (this.#tried[family] ?? 0) + count;
  }

  /** What is done to the scenario as a whole. */
  async #passes({ kinds, operators }: PlayedRun): Promise<void> {
    const has = (family: FaultFamily) => (this.#options.faults ?? FAULT_FAMILIES).includes(family);
    const run = async (family: FaultFamily, pass: (options: PassOptions) => Promise<PassResult>) => {
      if (!has(family)) return;
      const keep = (problem: PassProblem) => {
        if (this.#findings.add(passFinding(family, problem, this.#seed))) this.#progress.found();
      };
      const onProblem = (problem: PassProblem) => {
        if (!this.#findings.has({ oracle: family, message: problem.message })) keep(problem);
      };
      const { tried, runs, problems } = await pass({ ...this.#options, seed: this.#seed, onProblem });
      this.#count(family, tried);
      this.#runs += runs;
      for (const problem of problems) onProblem(problem);
      this.#progress.did(family, runs);
    };
    for (const kind of this.#options.kinds ?? kinds)
      await run("deletion", (options) => deletionPass(this.#scenario, kind, options));
    await run("drift", (options) => driftPass(this.#scenario, options));
    await run("spec", (options) => specPass(this.#scenario, options));
    for (const operator of operators) {
      if (!("main" in operator) && isFirst(this.#options.part)) {
        await run("crd deletion", (options) => crdDeletionPass(runnable(operator), this.#scenario, options));
      }
    }
  }

  async #deeper(level: number, clean: ExploredRun, judges: readonly Oracle[]): Promise<void> {
    const { runs = DEEPER_RUNS, part } = this.#options;
    const most = Math.ceil(runs / (part?.of ?? 1));
    for (let tried = 0; tried < most && this.#frontier.length > 0 && !this.#exhausted(); tried++) {
      const [next] = this.#frontier.splice(this.#random.below(this.#frontier.length), 1);
      if (!next || next.faults.length !== level || this.#covered.has(next.key)) continue;
      this.#covered.add(next.key);
      await this.#try(next.faults, clean, judges, level < (this.#options.depth ?? 1));
    }
  }

  /** Whether nothing is wrong with these faults. */
  async #try(
    faults: readonly Fault[],
    clean: ExploredRun,
    judges: readonly Oracle[],
    extend: boolean,
  ): Promise<boolean> {
    const run = await this.#play(faults);
    const found = judged(judges, run, clean);
    for (const [oracle, message] of found) {
      if (this.#findings.has({ oracle: oracle.name, message })) this.#keep(oracle, message, run);
      else await this.#shrink(oracle, message, run, clean);
    }
    // What follows a fault that has done harm already would be blamed for it.
    if (!extend || found.length > 0 || run.faults.length < faults.length) return found.length === 0;
    const at = run.timeline.findLastIndex(({ type }) => type === "fault");
    for (const { fault, key } of this.#candidates({ ...run, timeline: run.timeline.slice(at) })) {
      if (!this.#covered.has(key)) this.#frontier.push({ faults: [...faults, fault], key });
    }
    return true;
  }

  /** Leaves out one fault after the other, as long as the same oracle still reports something. */
  async #shrink(oracle: Oracle, message: string, run: ExploredRun, clean: ExploredRun): Promise<void> {
    let [least, reported] = [run, message];
    for (const fault of run.faults) {
      if (least.faults.length < 2) break;
      const fewer = await this.#play(least.faults.filter((one) => one !== fault));
      const [still] = oracle.check(fewer, clean);
      if (still !== undefined) [least, reported] = [fewer, still];
    }
    this.#keep(oracle, reported, least);
  }

  #keep(oracle: Oracle, message: string, { faults, seed, timeline }: ExploredRun): void {
    const isNew = this.#findings.add({ oracle: oracle.name, message, faults, seed, timeline, runs: 1 });
    if (isNew) this.#progress.found();
  }

  async #play(faults: readonly Fault[], seed = this.#seed): Promise<PlayedRun> {
    this.#runs++;
    const run = await exploredRun(this.#scenario, faults, seed, this.#options);
    this.#progress.did(faults.length === 0 ? "no fault" : faults.map(faultText).join(" and "));
    return run;
  }

  #exhausted(): string | undefined {
    const { findings = 10, reached } = this.#options;
    return reached() ?? (this.#findings.all.length >= findings ? `there are ${findings} findings` : undefined);
  }
}

/** The permissions of all scenarios together, compared with the role of their operator. */
async function roleResult(
  scenarios: readonly Scenario[],
  { faults = FAULT_FAMILIES, only, seed = 1, environment, part, reached, unusedPermissions = true }: LimitedOptions,
  progress: Progress,
  found: Findings,
): Promise<Exploration | undefined> {
  if (!faults.includes("rbac") || only !== undefined || reached()) return undefined;
  const operators = new Map<object, RunnableOperator>();
  let [tried, runs] = [0, scenarios.length];
  const onProblem = (problem: PassProblem) => {
    const finding = passFinding("rbac", problem, seed);
    if (!found.has(finding) && found.add(finding)) progress.found();
  };
  try {
    for (const scenario of scenarios) {
      const { operators: started } = await exploredRun(scenario, [], seed, {
        reached,
        ...(environment && { environment }),
      });
      for (const operator of started) if (!("main" in operator)) operators.set(operator, runnable(operator));
    }
    for (const operator of operators.values()) {
      const shared = { seed, reached, onProblem, unusedPermissions };
      const options = { ...shared, ...(environment && { environment }), ...(part && { part }) };
      const result = await rbacPass(operator, scenarios, options);
      tried += result.tried;
      runs += result.runs;
      for (const problem of result.problems) onProblem(problem);
      progress.did("rbac", result.runs);
    }
  } catch (error) {
    if (!(error instanceof ExplorationStopped)) throw error;
    return merged([], { seed, runs, stopped: error.message, tried: { rbac: tried } });
  }
  return merged([], { seed, runs, tried: { rbac: tried } });
}

/** What the oracles report of a run, each with its first sentence. */
function judged(judges: readonly Oracle[], run: ExploredRun, clean: ExploredRun): [Oracle, string][] {
  return judges.flatMap((oracle) => {
    const [message] = oracle.check(run, clean);
    return message === undefined ? [] : [[oracle, message] as [Oracle, string]];
  });
}

function isSameTimeline(a: ExploredRun, b: ExploredRun): boolean {
  return JSON.stringify(a.timeline) === JSON.stringify(b.timeline);
}
