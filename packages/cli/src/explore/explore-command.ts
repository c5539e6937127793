import { availableParallelism } from "node:os";
import { isSea } from "node:sea";
import { realClock } from "@konverge/core";
import {
  type AcceptedFinding,
  acceptedFindingsIn,
  acceptFindings,
  type Exploration,
  type ExploreProgress,
  explorationJson,
  explorationText,
  exploreProgram,
  type Fault,
  type Finding,
  Findings,
  faultText,
  findingText,
  InClusterError,
  PROGRAM_FAULT_FAMILIES,
  type ProgramExploration,
  type ProgramScenario,
  passedFaultsIn,
  UnstableScenario,
  writeExploration,
} from "@konverge/testing";
import type { Output } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";
import { codeVersion, filesIn } from "./code-version.ts";
import { builtProgram, exploreGoProgram, type GoExploration } from "./explore-go.ts";
import { exploreInParallel } from "./explore-in-parallel.ts";
import { exploreModule, type ModuleExploration } from "./explore-module.ts";
import { familiesIn } from "./families.ts";
import { scenarioIn } from "./scenario-in.ts";

/** The options of `konverge explore`; times are milliseconds. */
export interface ExploreCommandOptions {
  readonly module?: string | undefined;
  readonly command?: string;
  /** A Go package. */
  readonly go?: string;
  /** A Go program that was compiled for js/wasm. */
  readonly wasm?: string;
  readonly scenario?: string;
  readonly objects?: string;
  readonly time?: number;
  readonly depth: 1 | 2;
  readonly seed: number;
  readonly points?: number;
  readonly faults?: string;
  readonly only?: string;
  readonly findings: number;
  readonly passed?: string;
  /** A file of findings that are accepted. */
  readonly baseline?: string;
  readonly updateBaseline?: boolean;
  readonly workers?: number;
  readonly idleAfter?: number;
  readonly idleTimeout?: number;
  readonly inCluster?: boolean;
  readonly results?: string;
  readonly output?: Output;
}

/** Where the command writes, and the code that its process has loaded. */
export interface ExploreWorld {
  /** The URLs of the modules that this process has loaded, and will load. */
  readonly loaded: ReadonlySet<string>;
  /** Ends the exploration with what was found so far. */
  readonly signal?: AbortSignal;
  print(text: string): void;
  progress(text: string): void;
}

/** Explores and reports; returns the number of findings. */
export async function exploreFromCommandLine(options: ExploreCommandOptions, world: ExploreWorld): Promise<number> {
  const { module, scenario, results, output, baseline, updateBaseline } = options;
  if (updateBaseline && baseline === undefined) throw new UsageError("--update-baseline needs --baseline FILE");
  const printed = new Findings();
  const print = (finding: Finding) => {
    if (printed.add(finding) && output !== "json") world.print(`${findingText(finding)}\n`);
  };
  const exploration = await exploredAs(options, world, print);
  for (const finding of exploration.findings) print(finding);
  if (output === "json") world.print(explorationJson(exploration));
  else for (const line of reportLines(exploration)) world.print(line);
  if (updateBaseline && baseline !== undefined) {
    acceptFindings(baseline, exploration);
    world.progress(`wrote ${baseline}`);
    return 0;
  }
  if (results !== undefined) {
    for (const file of writeExploration(exploration, module ?? scenario!, results)) world.progress(`wrote ${file}`);
  }
  return exploration.findings.length;
}

async function exploredAs(
  options: ExploreCommandOptions,
  world: ExploreWorld,
  onFinding: (finding: Finding) => void,
): Promise<Exploration> {
  const { module, command, go, wasm, scenario } = options;
  const given = [module, command, go, wasm].filter((one) => one !== undefined);
  if (given.length !== 1 || (module === undefined) !== (scenario !== undefined))
    throw new UsageError("pass either a module, or --scenario and one of --go, --wasm and --command");
  if (module !== undefined && isSea())
    throw new UsageError(
      `this executable explores programs only, with --go, --wasm or --command: explore modules with Node: npx konverge explore ${module}`,
    );
  if (module !== undefined)
    return exploreOnVirtualTime({ module, objects: options.objects }, options, world, onFinding);
  if (command !== undefined) return exploreCommand(command, scenarioIn(scenario!), options, world, onFinding);
  if (go !== undefined) world.progress(`compiling ${go} for js/wasm`);
  return exploreOnVirtualTime({ wasm: wasm ?? builtProgram(go!), scenario: scenario! }, options, world, onFinding);
}

async function exploreOnVirtualTime(
  subject: Pick<ModuleExploration, "module" | "objects"> | Pick<GoExploration, "wasm" | "scenario">,
  { depth, seed, findings, time, faults, points, only, passed, ...options }: ExploreCommandOptions,
  world: ExploreWorld,
  onFinding: (finding: Finding) => void,
): Promise<Exploration> {
  const { workers = Math.min(availableParallelism(), 8) } = options;
  const settings = {
    depth,
    seed,
    findings,
    time,
    faults,
    points,
    only,
    passed,
    accepted: acceptedIn(options.baseline),
  };
  const onObjects = (from: string) => world.progress(`objects from ${from}`);
  const onProgress = seldom(world);
  if (workers > 1)
    return exploreInParallel({ ...subject, ...settings }, workers, {
      onProgress,
      onObjects,
      onFinding,
      signal: world.signal,
    });
  const self = { loaded: world.loaded, onProgress, onObjects, onFinding, signal: world.signal };
  if ("wasm" in subject) return exploreGoProgram({ ...subject, ...settings }, self);
  return exploreModule({ ...subject, ...settings }, self);
}

/** Some runs take milliseconds: no more than one line a second. */
function seldom(world: ExploreWorld): (progress: ExploreProgress) => void {
  const clock = realClock();
  let last = clock.monotonic();
  return (progress) => {
    if (clock.monotonic() - last < 1000) return;
    last = clock.monotonic();
    world.progress(progressText(progress));
  };
}

function progressText({ done, total, findings, tried }: ExploreProgress): string {
  return `${done}/${total} runs, ${findings} findings: ${tried}`;
}

async function exploreCommand(
  command: string,
  scenario: ProgramScenario,
  options: ExploreCommandOptions,
  world: ExploreWorld,
  onFinding: (finding: Finding) => void,
): Promise<ProgramExploration> {
  const { module: _, results: _results, output: _output, baseline, faults, passed, ...settings } = options;
  if (scenario.program.replicas > 1) {
    throw new UsageError(
      `${scenario.name}: program.replicas is ${scenario.program.replicas}, but --command starts one process: use --go or --wasm`,
    );
  }
  const version = codeVersion(world.loaded, [command, filesIn(command), scenario, options.seed]);
  const explored = exploreProgram({
    ...settings,
    command,
    scenario,
    accepted: acceptedIn(baseline),
    onFinding,
    ...(world.signal && { signal: world.signal }),
    ...(passed !== undefined && { passed: passedFaultsIn(passed, version) }),
    ...(faults !== undefined && { faults: familiesIn(faults, PROGRAM_FAULT_FAMILIES) }),
    onProgress: (progress) => world.progress(progressText(progress)),
  });
  return explored.catch((error: unknown) => {
    const isRefusal = error instanceof UnstableScenario || error instanceof InClusterError;
    throw isRefusal ? new UsageError(error.message, { cause: error }) : error;
  });
}

/** The findings that a baseline accepts. */
function acceptedIn(baseline: string | undefined): readonly AcceptedFinding[] {
  if (baseline === undefined) return [];
  try {
    return acceptedFindingsIn(baseline);
  } catch (error) {
    throw new UsageError(`--baseline ${(error as Error).message}`, { cause: error });
  }
}

const faultsText = (faults: readonly Fault[]) => faults.map(faultText).join(" and ") || "without any fault";

/** What is known at the end only: each finding was printed when it was found. */
function reportLines(exploration: Exploration | ProgramExploration): string[] {
  const lines = exploration.findings.flatMap(({ oracle, message, also = [] }) =>
    also.length === 0 ? [] : [`${oracle}: ${message}`, ...also.map((faults) => `  also: ${faultsText(faults)}`), ""],
  );
  lines.push(explorationText(exploration));
  if (!("missed" in exploration)) return lines;
  const { missed, unconfirmed } = exploration;
  if (missed > 0) lines.push(`${missed} faults did not happen, because their point was not reached`);
  if (unconfirmed > 0) lines.push(`${unconfirmed} runs failed once and not again: they are not counted`);
  return lines;
}
