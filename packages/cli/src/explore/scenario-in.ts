import { type ProgramScenario, readScenario, ScenarioError } from "@konverge/testing";
import { UsageError } from "../usage-error.ts";

/** The scenario of `--scenario`. */
export function scenarioIn(file: string): ProgramScenario {
  try {
    return readScenario(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof ScenarioError) throw new UsageError(message, { cause: error });
    if (code === "ENOENT") throw new UsageError(`--scenario ${file}: there is no such file`, { cause: error });
    throw error;
  }
}
