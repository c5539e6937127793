import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Exploration } from "./finding.ts";
import { type AcceptedFinding, findingKey } from "./findings.ts";

/** The findings that a baseline file accepts; none if there is no such file. Throws if it is not a list of findings. */
export function acceptedFindingsIn(file: string): AcceptedFinding[] {
  if (!existsSync(file)) return [];
  const problem = `${file} is not a baseline: it has to be a JSON list of objects with oracle and message; write it with --update-baseline`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(problem, { cause: error });
  }
  if (!Array.isArray(parsed) || !parsed.every(isAccepted)) throw new Error(problem);
  return parsed;
}

/**
 * Writes all that an exploration has found as accepted. What was accepted and not found again is no longer, unless the exploration was
 * stopped before it could be. What else an entry has, such as a reason, stays.
 */
export function acceptFindings(file: string, { findings, accepted, stopped }: Exploration): void {
  const before = new Map(acceptedFindingsIn(file).map((one) => [findingKey(one), one]));
  const found = [...accepted, ...findings].map(({ oracle, message }) => {
    const known = before.get(findingKey({ oracle, message }));
    return known ?? { oracle, message };
  });
  const kept = stopped === undefined ? found : [...new Set([...before.values(), ...found])];
  kept.sort((a, b) => (findingKey(a) < findingKey(b) ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(kept, undefined, 2)}\n`);
}

function isAccepted(value: unknown): value is AcceptedFinding {
  const { oracle, message } = (value ?? {}) as Partial<AcceptedFinding>;
  return typeof oracle === "string" && typeof message === "string";
}
