import { panicIn, panicPlace } from "../environment/process-exit.ts";
import type { Oracle } from "./oracle.ts";

/** The longest part of a message that a finding shows. */
const SHOWN = 200;
/** Some programs end once or twice to be started with what they have found in the cluster. */
const ON_PURPOSE = 2;

/** A process that ends because it lost its lease, or cannot reach the API server, is started again; a panic is never meant. */
export const exitOracle: Oracle = {
  name: "exit",
  meaning: "A process of the operator ended by a panic, or again and again although no fault happened.",
  check(run, reference) {
    const panicked = run.exits.find(({ output }) => panicIn(output) !== undefined);
    if (panicked) {
      const place = panicPlace(panicked.output);
      const words = panicIn(panicked.output)!.slice(0, SHOWN);
      return [`the program panicked: ${words}${place === undefined ? "" : `, at ${place}`}`];
    }
    if (run !== reference || run.exits.length <= ON_PURPOSE) return [];
    const last = run.exits.at(-1)!.output.trimEnd().split("\n").at(-1) ?? "";
    return [`the program ended ${run.exits.length} times, at last with: ${last.slice(0, SHOWN)}`];
  },
};
