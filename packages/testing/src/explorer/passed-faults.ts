import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** Faults that nothing was found with, as JSON. A set of strings is one, for the time of a process. */
export type PassedFaults = Pick<Set<string>, "has" | "add">;

/**
 * The faults that passed, one in each line of a file, so that an exploration which was stopped continues where it was. The file is
 * valid for one operator, scenario and seed, as long as none of the code changes: put a hash of it into the file's name.
 */
export function passedFaultsIn(file: string): PassedFaults {
  mkdirSync(dirname(file), { recursive: true });
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  // A process that was killed may have left half a line, which is no fault.
  const known = new Set(lines);
  appendFileSync(file, lines.at(-1) === "" || lines.length === 0 ? "" : "\n");
  return {
    has: (fault) => known.has(fault),
    add(fault) {
      if (!known.has(fault)) appendFileSync(file, `${fault}\n`);
      return known.add(fault);
    },
  };
}
