import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type AcceptedFinding,
  checkOperator,
  type Exploration,
  type ExplorationPart,
  type ExploreProgress,
  explore,
  FAULT_FAMILIES,
  type Finding,
  passedFaultsIn,
  type Scenario,
} from "@konverge/testing";
import { loadOperators } from "../operators/operator-modules.ts";
import { UsageError } from "../usage-error.ts";
import { codeVersion } from "./code-version.ts";
import { objectsFor } from "./explored-objects.ts";
import { familiesIn } from "./families.ts";

/** What the command line says of an exploration on virtual time, whatever is explored. */
export interface ExplorationSettings {
  readonly time?: number | undefined;
  readonly depth: 1 | 2;
  readonly seed: number;
  readonly faults?: string | undefined;
  /** At most this many faults. */
  readonly points?: number | undefined;
  /** Only faults whose description contains this text. */
  readonly only?: string | undefined;
  readonly findings: number;
  readonly passed?: string | undefined;
  /** Findings that are known. */
  readonly accepted?: readonly AcceptedFinding[];
}

/** How a module is explored: what the command line says, and can be sent to another process. */
export interface ModuleExploration extends ExplorationSettings {
  readonly module: string;
  readonly objects?: string | undefined;
}

/** The process that explores. */
export interface ExploringProcess {
  /** Default: all. */
  readonly part?: ExplorationPart;
  /** The URLs of the modules that it has loaded, and will load. */
  readonly loaded: ReadonlySet<string>;
  onProgress(progress: ExploreProgress): void;
  /** Called with each finding as soon as it is found. */
  onFinding(finding: Finding): void;
  /** Ends the exploration with what was found so far. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the file or folder that objects are from. */
  onObjects(from: string): void;
}

/** Explores the operator or the scenario that a module exports. */
export async function exploreModule(options: ModuleExploration, self: ExploringProcess): Promise<Exploration> {
  const { module: file, depth, seed, findings, time, faults, points, only, passed, accepted = [] } = options;
  const { part, onProgress, onFinding, signal } = self;
  if (!existsSync(file)) throw new UsageError(`${file}: there is no such module`);
  const settings = {
    depth,
    seed,
    findings,
    onProgress,
    onFinding,
    accepted,
    ...(signal && { signal }),
    ...(part && { part }),
    ...(time !== undefined && { time }),
    ...(faults !== undefined && { faults: familiesIn(faults, FAULT_FAMILIES) }),
    ...(points !== undefined && { runs: points }),
    ...(only !== undefined && { only }),
  };
  const kept = (objects?: unknown) =>
    passed === undefined ? {} : { passed: passedFaultsIn(passed, codeVersion(self.loaded, [file, seed, objects])) };
  const { default: scenario } = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
  if (typeof scenario === "function") return explore(scenario as Scenario, { ...settings, ...kept() });
  const operators = await loadOperators([file]);
  const [operator] = operators;
  if (!operator || operators.length > 1) {
    const names = operators.map(({ name }) => name).join(", ");
    throw new UsageError(`${file} exports several operators (${names}): pass a module that exports one`);
  }
  const found = objectsFor(operator, file, options.objects);
  if (found) self.onObjects(found.from);
  try {
    const objects = found && { objects: found.objects };
    return await checkOperator(operator, { ...settings, ...kept(found?.objects), ...objects });
  } catch (error) {
    const { message } = error as Error;
    if (!message.includes("is rejected: ")) throw error;
    throw new UsageError(`${operator.name}: ${message}${found ? "" : " with --objects"}`, { cause: error });
  }
}
