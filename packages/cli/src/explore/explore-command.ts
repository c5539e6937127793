import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  checkOperator,
  type Exploration,
  explorationJson,
  explorationText,
  explore,
  exploreProgram,
  FAULT_FAMILIES,
  type FaultFamily,
  findingText,
  PROGRAM_FAULT_FAMILIES,
  type ProgramExploration,
  type ProgramScenario,
  passedFaultsIn,
  readScenario,
  type Scenario,
  ScenarioError,
  writeExploration,
} from "@konverge/testing";
import { loadOperators } from "../operators/operator-modules.ts";
import type { Output } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";
import { objectsFor } from "./explored-objects.ts";

/** The options of `konverge explore`; times are milliseconds. */
export interface ExploreCommandOptions {
  readonly module?: string | undefined;
  readonly command?: string;
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
  readonly workers: number;
  readonly idleAfter?: number;
  readonly idleTimeout?: number;
  readonly results?: string;
  readonly output?: Output;
}

/** Where the command writes. */
export interface ExploreWorld {
  print(text: string): void;
  progress(text: string): void;
}

/** Explores and reports; returns the number of findings. */
export async function exploreFromCommandLine(options: ExploreCommandOptions, world: ExploreWorld): Promise<number> {
  const { module, command, scenario, results, output } = options;
  const isModule = module !== undefined && command === undefined && scenario === undefined;
  if (!isModule && (module !== undefined || command === undefined || scenario === undefined))
    throw new UsageError("pass either a module, or --command and --scenario");
  const exploration = isModule
    ? await exploreModule(module, options, world)
    : await exploreCommand(command!, scenarioIn(scenario!), options, world);
  if (output === "json") world.print(explorationJson(exploration));
  else for (const line of reportLines(exploration)) world.print(line);
  if (results !== undefined) {
    for (const file of writeExploration(exploration, module ?? scenario!, results)) world.progress(`wrote ${file}`);
  }
  return exploration.findings.length;
}

async function exploreModule(
  file: string,
  options: ExploreCommandOptions,
  { progress }: ExploreWorld,
): Promise<Exploration> {
  const { depth, seed, findings, time, faults, passed } = options;
  const settings = {
    depth,
    seed,
    findings,
    ...(time !== undefined && { time }),
    ...(passed !== undefined && { passed: passedFaultsIn(passed) }),
    ...(faults !== undefined && { faults: familiesIn(faults, FAULT_FAMILIES) }),
  };
  if (!existsSync(file)) throw new UsageError(`${file}: there is no such module`);
  const { default: scenario } = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
  if (typeof scenario === "function") return explore(scenario as Scenario, settings);
  const operators = await loadOperators([file]);
  const [operator] = operators;
  if (!operator || operators.length > 1) {
    const names = operators.map(({ name }) => name).join(", ");
    throw new UsageError(`${file} exports several operators (${names}): pass a module that exports one`);
  }
  const found = objectsFor(operator, file, options.objects);
  if (found) progress(`objects from ${found.from}`);
  try {
    return await checkOperator(operator, { ...settings, ...(found && { objects: found.objects }) });
  } catch (error) {
    const { message } = error as Error;
    if (!message.includes("is rejected: ")) throw error;
    throw new UsageError(`${operator.name}: ${message}${found ? "" : " with --objects"}`, { cause: error });
  }
}

async function exploreCommand(
  command: string,
  scenario: ProgramScenario,
  options: ExploreCommandOptions,
  world: ExploreWorld,
): Promise<ProgramExploration> {
  const { module: _, results: _results, output: _output, faults, passed, ...settings } = options;
  return exploreProgram({
    ...settings,
    command,
    scenario,
    ...(passed !== undefined && { passed: passedFaultsIn(passed) }),
    ...(faults !== undefined && { faults: familiesIn(faults, PROGRAM_FAULT_FAMILIES) }),
    onProgress: ({ done, total, findings, tried }) =>
      world.progress(`${done}/${total} runs, ${findings} findings: ${tried}`),
  });
}

function reportLines(exploration: Exploration | ProgramExploration): string[] {
  const lines = exploration.findings.map((finding) => `${findingText(finding)}\n`);
  lines.push(explorationText(exploration));
  if (!("missed" in exploration)) return lines;
  const { missed, unconfirmed } = exploration;
  if (missed > 0) lines.push(`${missed} faults did not happen, because their point was not reached`);
  if (unconfirmed > 0) lines.push(`${unconfirmed} runs failed once and not again: they are not counted`);
  return lines;
}

function scenarioIn(file: string): ProgramScenario {
  try {
    return readScenario(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof ScenarioError) throw new UsageError(message, { cause: error });
    if (code === "ENOENT") throw new UsageError(`--scenario ${file}: there is no such file`, { cause: error });
    throw error;
  }
}

function familiesIn(text: string, known: readonly FaultFamily[]): FaultFamily[] {
  return text.split(",").map((name) => {
    const family = known.find((one) => one === name.trim());
    if (family) return family;
    throw new UsageError(`--faults ${name}: there are ${known.join(", ")}`);
  });
}
