import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  buildGoProgram,
  type Exploration,
  exploreGo,
  FAULT_FAMILIES,
  GoModule,
  GoProgramError,
  passedFaultsIn,
} from "@konverge/testing";
import { UsageError } from "../usage-error.ts";
import { codeVersion } from "./code-version.ts";
import type { ExplorationSettings, ExploringProcess } from "./explore-module.ts";
import { familiesIn } from "./families.ts";
import { scenarioIn } from "./scenario-in.ts";

/** How a Go program is explored: what the command line says, and can be sent to another process. */
export interface GoExploration extends ExplorationSettings {
  /** The compiled program. */
  readonly wasm: string;
  readonly scenario: string;
}

/** Compiles a package for js/wasm into the user's cache folder, and returns the file. */
export function builtProgram(name: string): string {
  const id = createHash("sha256").update(`${resolve()}\0${name}`).digest("hex").slice(0, 16);
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return asUsage(() => buildGoProgram({ package: name, output: join(cache, "konverge", "go", id) }));
}

/** Explores a Go program on virtual time. */
export async function exploreGoProgram(options: GoExploration, self: ExploringProcess): Promise<Exploration> {
  const { wasm, depth, seed, findings, time, faults, points, only, passed, accepted = [] } = options;
  const scenario = scenarioIn(options.scenario);
  const bytes = asUsage(() => readFileSync(wasm));
  const digest = createHash("sha256").update(bytes).digest("hex");
  const module = await GoModule.compile(bytes, wasm).catch((error: unknown) => {
    throw asUsageError(error);
  });
  const version = () => codeVersion(self.loaded, [digest, scenario, seed]);
  return exploreGo({
    module,
    scenario,
    depth,
    seed,
    findings,
    accepted,
    onProgress: self.onProgress,
    onFinding: self.onFinding,
    ...(self.signal && { signal: self.signal }),
    ...(self.part && { part: self.part }),
    ...(time !== undefined && { time }),
    ...(faults !== undefined && { faults: familiesIn(faults, FAULT_FAMILIES) }),
    ...(points !== undefined && { runs: points }),
    ...(only !== undefined && { only }),
    ...(passed !== undefined && { passed: passedFaultsIn(passed, version()) }),
  });
}

function asUsage<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asUsageError(error);
  }
}

function asUsageError(error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return new UsageError(`--wasm ${path}: there is no such file`, { cause: error });
  return error instanceof GoProgramError ? new UsageError(error.message, { cause: error }) : error;
}
