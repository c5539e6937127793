import { externalOracles } from "./external-oracles.ts";
import type { ExploredRun } from "./oracle.ts";
import { oracles } from "./oracles.ts";

/** A run of which nothing is known: what oracles mean does not depend on runs. */
const NONE = {} as ExploredRun;

/** What a finding of an oracle means, in a sentence. Undefined for oracles of yours, and for what is done to a whole scenario. */
export function oracleMeaning(oracle: string): string | undefined {
  return [...oracles(), ...externalOracles(NONE, NONE)].find(({ name }) => name === oracle)?.meaning;
}
