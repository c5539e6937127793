import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** Faults that nothing was found with, and their scenarios, as JSON. A set of strings is one, for the time of a process. */
export type PassedFaults = Pick<Set<string>, "has" | "add">;

/**
 * The faults that passed, one in each line of a file, so that an exploration which was stopped continues where it was. Several
 * processes can use one file. `version` stands for all that they depend on: the operator, the scenario, the seed, such as a hash of
 * their code. What passed with another version does not count.
 */
export function passedFaultsIn(file: string, version: string): PassedFaults {
  mkdirSync(dirname(file), { recursive: true });
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  // A process that was killed may have left half a line, which is no fault.
  const known = new Set(lines);
  appendFileSync(file, lines.at(-1) === "" || lines.length === 0 ? "" : "\n");
  return {
    has: (fault) => known.has(`${version} ${fault}`),
    add(fault) {
      const line = `${version} ${fault}`;
      if (!known.has(line)) appendFileSync(file, `${line}\n`);
      return known.add(line);
    },
  };
}
