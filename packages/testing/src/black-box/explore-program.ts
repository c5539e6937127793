import type { Snapshot } from "@konverge/apiserver";
import { type AnyObject, type Random, seededRandom } from "@konverge/core";
import {
  type EndState,
  type EndStateMask,
  endStateDifferences,
  endStateMask,
  endStateOf,
  objectsIn,
} from "../explorer/end-state.ts";
import { exitOracle } from "../explorer/exit-oracle.ts";
import { type Fault, faultText } from "../explorer/fault.ts";
import { type FaultFamily, familyOf } from "../explorer/fault-family.ts";
import type { Exploration, ExploreProgress, Finding } from "../explorer/finding.ts";
import { type AcceptedFinding, Findings } from "../explorer/findings.ts";
import { type ExplorationLimits, ExplorationStopped, Limits } from "../explorer/limits.ts";
import type { Oracle } from "../explorer/oracle.ts";
import { oracles } from "../explorer/oracles.ts";
import type { PassedFaults } from "../explorer/passed-faults.ts";
import { baseName, RandomNames, withShownNames } from "../explorer/random-names.ts";
import { PROGRAM_FAULT_FAMILIES, programFaults } from "./program-faults.ts";
import {
  IDLE_AFTER,
  type Patience,
  type ProgramRun,
  type ProgramRunOptions,
  prepareScenario,
  runProgram,
} from "./program-run.ts";
import { Retries } from "./retries.ts";

/** Options of {@link exploreProgram}. */
export interface ExploreProgramOptions extends Omit<ProgramRunOptions, "reached">, ExplorationLimits {
  /** Default: all that can happen to a program. */
  readonly faults?: readonly FaultFamily[];
  /** Only faults whose description contains this text. Default: all. */
  readonly only?: string;
  /** 2: also pairs of faults, chosen at random, as long as there is time. Default: 1. */
  readonly depth?: 1 | 2;
  /** Decides which faults are tried if not all are, and which pairs. Default: 1. */
  readonly seed?: number;
  /** Try at most this many faults. Default: all. */
  readonly points?: number;
  /** Stop after this many findings. Default: 10. */
  readonly findings?: number;
  /** Findings that are known: they are returned separately, and do not count. Default: none. */
  readonly accepted?: readonly AcceptedFinding[];
  /** How many runs there are at a time, each with its own cluster and process. Default: 2. */
  readonly workers?: number;
  /** The faults that nothing was found with: they are not tried again, and what passes is added. Depth 1 only. Default: none. */
  readonly passed?: PassedFaults;
  /** Called after each run. */
  onProgress?(progress: ExploreProgress): void;
  /** Called with each finding as soon as it is found. Default: nothing. */
  onFinding?(finding: Finding): void;
}

/** The result of the exploration of a program. */
export interface ProgramExploration extends Exploration {
  /** Faults whose point did not come in the run with them. */
  readonly missed: number;
  /** Runs in which an oracle reported something that did not happen again when the run was repeated. */
  readonly unconfirmed: number;
}

/** Pairs that are tried at depth 2. */
const PAIRS = 100;

/**
 * Explores a program in any language as a black box. It runs as a process that reaches an embedded cluster through a proxy.
 * A scenario is played without faults, twice, and then with each fault at each point of it. What differs between the two runs
 * without faults is masked, and what an oracle reports has to happen again in a second run with the same faults.
 *
 * ```ts
 * const { findings } = await exploreProgram({ command: "./manager", scenario: readScenario("story.yaml") });
 * ```
 */
export async function exploreProgram(options: ExploreProgramOptions): Promise<ProgramExploration> {
  return new ProgramSearch(options, await prepareScenario(options.scenario)).run();
}

/** Runs without faults, after the first two, that look for more to mask. */
const MORE_CLEAN_RUNS = 3;

/** Runs of a scenario without faults that do not end alike: nothing could be said about runs with faults. */
export class UnstableScenario extends Error {
  override readonly name = "UnstableScenario";
  readonly code = "KONVERGE_UNSTABLE_SCENARIO";

  constructor(problem: string) {
    super(
      `${problem}: this would be a finding of every fault. Let the scenario end in a state that the operator keeps, with a wait step ` +
        "for it, or name what differs in ignore:",
    );
  }
}

/** The second run waits longer for work that is still to come, such as a retry on a busy machine. */
const PATIENT_FACTOR = 4;

class ProgramSearch {
  readonly #options: ExploreProgramOptions;
  readonly #state: Snapshot;
  readonly #seed: number;
  readonly #random: Random;
  readonly #limits: Limits;
  readonly #findings: Findings;
  readonly #tried = new Set<string>();
  readonly #families: Partial<Record<FaultFamily, number>> = {};
  #runs = 0;
  #done = 0;
  #missed = 0;
  #unconfirmed = 0;
  #total = 2;
  #points: ReadonlySet<string> = new Set();
  #pruned = 0;
  #earlier = 0;
  #deterministic = true;
  #idleAfter: number;
  #names = RandomNames.none;
  #mask: EndStateMask = new Set();
  #judges: readonly Oracle[] = [...oracles(), EXIT];
  readonly #retries = new Retries();

  constructor(options: ExploreProgramOptions, state: Snapshot) {
    this.#options = options;
    this.#state = state;
    this.#seed = options.seed ?? 1;
    this.#idleAfter = options.idleAfter ?? IDLE_AFTER;
    this.#random = seededRandom(this.#seed);
    this.#limits = new Limits(options);
    this.#findings = new Findings(options.accepted, options.onFinding);
  }

  async run(): Promise<ProgramExploration> {
    try {
      await this.#explore();
    } catch (error) {
      if (!(error instanceof ExplorationStopped)) throw error;
    }
    return {
      seed: this.#seed,
      runs: this.#runs,
      points: this.#points.size,
      tried: this.#families,
      pruned: this.#pruned,
      earlier: this.#earlier,
      covered: this.#tried.size,
      deterministic: this.#deterministic,
      stopped: this.#stopped(),
      findings: this.#findings.all,
      accepted: this.#findings.accepted,
      missed: this.#missed,
      unconfirmed: this.#unconfirmed,
    };
  }

  async #explore(): Promise<void> {
    const { points, depth = 1, only, passed } = this.#options;
    const [clean, again] = await this.#withoutFaults();
    const judges = this.#judges;
    for (const [oracle, message] of judged(judges, clean, clean)) this.#keep(oracle, message, clean);
    const families = this.#options.faults ?? PROGRAM_FAULT_FAMILIES;
    this.#deterministic = this.#mask.size === 0 && samePoints(clean, again);
    const { faults, pruned } = programFaults([clean, again], families, this.#random);
    let chosen = faults
      .map(({ fault }) => fault)
      .filter((fault) => only === undefined || faultText(fault).includes(only));
    if (points !== undefined && points < chosen.length) chosen = shuffled(chosen, this.#random).slice(0, points);
    // A scenario that fails without faults says nothing about what faults do to it.
    if (!clean.endState) chosen = [];
    this.#pruned = pruned;
    this.#points = new Set(chosen.map(({ at }) => JSON.stringify(at)));
    const fresh = depth > 1 ? chosen : chosen.filter((fault) => !passed?.has(JSON.stringify(fault)));
    this.#earlier = chosen.length - fresh.length;
    this.#total += fresh.length;
    const harmless: Fault[] = [];
    await this.#each(
      fresh.map((fault) => [fault]),
      async (one, worker) => {
        if (await this.#try(one, clean, judges, worker)) return;
        harmless.push(one[0]!);
        passed?.add(JSON.stringify(one[0]));
      },
    );
    if (depth > 1) {
      const pairs = this.#pairs(harmless);
      this.#total += pairs.length;
      await this.#each(pairs, (pair, worker) => this.#try(pair, clean, judges, worker));
    }
  }

  /**
   * Two runs without faults. What differs between them is masked; random names are recognized, and then they are played again under
   * names that both share. A third run that is still different shows more to mask, or that nothing can be said about faults.
   */
  async #withoutFaults(): Promise<[ProgramRun, ProgramRun]> {
    try {
      return await this.#alike();
    } catch (error) {
      if (!(error instanceof UnstableScenario)) throw error;
      // The operator may have been idle for a while, and not have been done: from now on, all runs wait longer.
      this.#idleAfter *= PATIENT_FACTOR;
      this.#mask = new Set();
      this.#names = RandomNames.none;
      return this.#alike();
    }
  }

  async #alike(): Promise<[ProgramRun, ProgramRun]> {
    let [clean, again] = [await this.#play([], 0), await this.#play([], 0)];
    const names = RandomNames.between(clean, again);
    if (!names.isEmpty) {
      this.#names = names;
      [clean, again] = [await this.#play([], 0), await this.#play([], 0)];
    }
    this.#masks(clean, again);
    for (let more = 0; more < MORE_CLEAN_RUNS && this.#mask.size > 0 && clean.endState; more++) {
      const before = this.#mask.size;
      const other = await this.#play([], 0);
      this.#masks(clean, other);
      const [found] = judged(this.#judges, other, clean);
      if (found) throw new UnstableScenario(`a run without faults reports already: ${found[0].name}: ${found[1]}`);
      if (this.#mask.size === before) break;
    }
    return [clean, again];
  }

  /** Adds what two runs without faults do not share. Objects that are in one of them only are no basis to judge others. */
  #masks(one: ProgramRun, other: ProgramRun): void {
    if (one.endState && other.endState)
      this.#mask = new Set([...this.#mask, ...endStateMask(one.endState, other.endState)]);
    this.#judges = [...oracles(this.#mask), EXIT];
    const objects = objectsIn(this.#mask);
    if (objects.length > 0)
      throw new UnstableScenario(`two runs without faults end with different objects: ${objects.join(", ")}`);
  }

  /** Several at a time, each worker one after the other, until there is no more time. */
  async #each(all: readonly Fault[][], attempt: (faults: Fault[], worker: number) => Promise<unknown>): Promise<void> {
    const queue = [...all];
    const work = async (worker: number) => {
      for (let next = queue.shift(); next && this.#stopped() === undefined; next = queue.shift())
        await attempt(next, worker);
    };
    await Promise.all(Array.from({ length: this.#options.workers ?? 2 }, (_, worker) => work(worker)));
  }

  /** Whether something is wrong with these faults, twice. */
  async #try(faults: Fault[], clean: ProgramRun, judges: readonly Oracle[], worker: number): Promise<boolean> {
    for (const { type } of faults) this.#families[familyOf(type)] = (this.#families[familyOf(type)] ?? 0) + 1;
    const run = await this.#play(faults, worker);
    if (run.faults.length < faults.length) this.#missed++;
    else for (const fault of faults) this.#tried.add(faultText(fault));
    const found = judged(judges, run, clean);
    if (found.length === 0) return false;
    if (found.every(([{ name }, message]) => this.#findings.has({ oracle: name, message }))) {
      for (const [oracle, message] of found) this.#keep(oracle, message, run);
      return true;
    }
    const idleAfter = PATIENT_FACTOR * this.#idleAfter;
    const patience = this.#patience(clean);
    const again = judged(judges, await this.#play(run.faults, worker, { idleAfter, patience }), clean);
    const confirmed = found.filter(([oracle]) => again.some(([other]) => other === oracle));
    if (confirmed.length === 0) this.#unconfirmed++;
    for (const [oracle, message] of confirmed) this.#keep(oracle, message, run);
    return confirmed.length > 0;
  }

  /** Long enough for the retries that were observed. */
  #patience({ endState }: ProgramRun): Patience {
    return {
      ms: this.#retries.longest,
      factor: PATIENT_FACTOR,
      isComplete: (objects) =>
        endState !== undefined && endStateDifferences(endState, this.#ended(objects), this.#mask).length === 0,
    };
  }

  #ended(objects: readonly AnyObject[]): EndState {
    const mask = this.#names.masking(objects.map(baseName));
    return endStateOf(objects.map((object) => JSON.parse(mask(JSON.stringify(object))) as AnyObject));
  }

  #pairs(faults: readonly Fault[]): Fault[][] {
    if (faults.length < 2) return [];
    return Array.from({ length: PAIRS }, () => shuffled(faults, this.#random).slice(0, 2));
  }

  #keep({ name }: Oracle, message: string, { faults, seed, timeline }: ProgramRun): void {
    this.#findings.add({ oracle: name, message, faults, seed, timeline, runs: 1 });
  }

  async #play(
    faults: readonly Fault[],
    worker: number,
    options: Pick<ProgramRunOptions, "idleAfter" | "patience"> = {},
  ): Promise<ProgramRun> {
    this.#runs++;
    const settings = {
      ...this.#options,
      idleAfter: this.#idleAfter,
      ...options,
      names: this.#names,
      reached: this.#limits.reached,
    };
    const played = await runProgram(settings, this.#state, { faults, seed: this.#seed, worker });
    this.#retries.observe(played);
    const run = this.#names.isEmpty
      ? played
      : withEndState(withShownNames(played, this.#names), played.endState !== undefined);
    this.#done++;
    this.#total = Math.max(this.#total, this.#done);
    this.#options.onProgress?.({
      done: this.#done,
      total: this.#total,
      findings: this.#findings.all.length,
      tried: faults.length === 0 ? "no fault" : faults.map(faultText).join(" and "),
    });
    return run;
  }

  /** Why there are no more runs, if there are not. */
  #stopped(): string | undefined {
    const { findings = 10 } = this.#options;
    const reached = this.#limits.reached();
    return reached ?? (this.#findings.all.length >= findings ? `there are ${findings} findings` : undefined);
  }
}

/** The end state of a run whose names have changed. */
function withEndState(run: ProgramRun, hasEnded: boolean): ProgramRun {
  return hasEnded ? { ...run, endState: endStateOf(run.objects) } : run;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [result[i], result[j]] = [result[j]!, result[i]!];
  }
  return result;
}

/** What the oracles report of a run, each with its first sentence. */
function judged(judges: readonly Oracle[], run: ProgramRun, clean: ProgramRun): [Oracle, string][] {
  return judges.flatMap((oracle) => {
    const [message] = oracle.check(run, clean);
    return message === undefined ? [] : [[oracle, message] as [Oracle, string]];
  });
}

const EXIT: Oracle = {
  name: "exit",
  meaning: "The program ended again and again.",
  check: (run, reference) => {
    const { exits } = run as ProgramRun;
    if (exitOracle.check(run, reference).length > 0) return [];
    return exits.length > 2 ? [`the program ended ${exits.length} times, at last with ${exitText(exits.at(-1)!)}`] : [];
  },
};

function exitText({ code, signal }: ProgramRun["exits"][number]): string {
  return signal ?? `exit code ${code}`;
}

function samePoints(a: ProgramRun, b: ProgramRun): boolean {
  const points = ({ timeline }: ProgramRun) =>
    JSON.stringify(timeline.flatMap(({ point }) => (point ? [JSON.stringify(point)] : [])).sort());
  return points(a) === points(b);
}
