import {
  explorationJson,
  explorationText,
  exploreProgram,
  type FaultFamily,
  findingText,
  PROGRAM_FAULT_FAMILIES,
  type ProgramExploration,
  readScenario,
  ScenarioError,
  writeExploration,
} from "@konverge/testing";
import { UsageError } from "../usage-error.ts";

/** The options of `konverge explore`; times are milliseconds. */
export interface ExploreCommandOptions {
  readonly command: string;
  readonly scenario: string;
  readonly time?: number;
  readonly depth: 1 | 2;
  readonly seed: number;
  readonly points?: number;
  readonly faults?: string;
  readonly only?: string;
  readonly findings: number;
  readonly workers: number;
  readonly quiet?: number;
  readonly patience?: number;
  readonly results?: string;
  readonly json?: boolean;
}

/** Where the command writes. */
export interface ExploreWorld {
  print(text: string): void;
  progress(text: string): void;
}

/** Explores a program and reports; returns how many findings there are. */
export async function exploreFromCommandLine(options: ExploreCommandOptions, world: ExploreWorld): Promise<number> {
  const { scenario: file, results, json, faults, ...settings } = options;
  const scenario = scenarioIn(file);
  const exploration = await exploreProgram({
    ...settings,
    scenario,
    ...(faults !== undefined && { faults: familiesIn(faults) }),
    onProgress: ({ done, total, findings, tried }) =>
      world.progress(`${done}/${total} runs, ${findings} findings: ${tried}`),
  });
  if (json) world.print(explorationJson(exploration));
  else for (const line of reportLines(exploration)) world.print(line);
  if (results !== undefined) {
    for (const written of writeExploration(exploration, scenario.name, results)) world.progress(`wrote ${written}`);
  }
  return exploration.findings.length;
}

function reportLines(exploration: ProgramExploration): string[] {
  const { findings, missed, unconfirmed } = exploration;
  const lines = findings.map((finding) => `${findingText(finding)}\n`);
  lines.push(explorationText(exploration));
  if (missed > 0) lines.push(`${missed} faults did not happen, since their point did not come`);
  if (unconfirmed > 0) lines.push(`${unconfirmed} runs failed once and not again: they are not counted`);
  return lines;
}

function scenarioIn(file: string) {
  try {
    return readScenario(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof ScenarioError) throw new UsageError(message, { cause: error });
    if (code === "ENOENT") throw new UsageError(`--scenario ${file}: there is no such file`, { cause: error });
    throw error;
  }
}

function familiesIn(text: string): FaultFamily[] {
  return text.split(",").map((name) => {
    const family = PROGRAM_FAULT_FAMILIES.find((one) => one === name.trim());
    if (family) return family;
    throw new UsageError(`--faults ${name}: there are ${PROGRAM_FAULT_FAMILIES.join(", ")}`);
  });
}
