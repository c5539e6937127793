import { faultText } from "@konverge/testing";
import type { PatternResult } from "./catalogue.ts";

/** A pattern's result in a few lines: the oracle and the faults, or what is missing. */
export function resultText(result: PatternResult): string {
  const { pattern, found, confirmed, alarms, runs, ms } = result;
  const cost = `${runs} runs, ${(ms / 1000).toFixed(1)} s`;
  const lines = [
    `${pattern.name}: ${found ? "found" : "NOT FOUND"}, ${alarms.length === 0 ? "quiet" : "FALSE ALARM"} (${cost})`,
  ];
  if (found) {
    lines.push(`  ${found.oracle}: ${found.message}${confirmed ? "" : " (NOT REPRODUCED)"}`);
    lines.push(
      ...(found.faults.length === 0 ? ["  no fault needed"] : found.faults.map((one) => `  ${faultText(one)}`)),
    );
    if (found.faults.length > 0) lines.push(lossText(result));
  }
  for (const { oracle, message, faults } of alarms) {
    lines.push(`  false alarm: ${oracle}: ${message} [${faults.map(faultText).join("; ") || "no fault"}]`);
  }
  return lines.join("\n");
}

function lossText({ isLost, shownBy }: PatternResult): string {
  return `  ${isLost ? "lost" : "NOT LOST"} without the faults ${shownBy.join(", ")}`;
}

/** Whether a mistake was found, replayed, and not found without its faults, and the fixed reconciler has no findings. */
export function isPassed({ found, confirmed, isLost, alarms }: PatternResult): boolean {
  return found !== undefined && confirmed && (isLost || found.faults.length === 0) && alarms.length === 0;
}

/** Whether all seeds found the same patterns by the same oracles, with all runs and the whole time. */
export function seedsText(seeds: readonly (readonly PatternResult[])[]): string {
  const results = seeds.flat();
  const differing = Map.groupBy(results, ({ pattern }) => pattern.name)
    .entries()
    .filter(([, own]) => new Set(own.map(({ found }) => found?.oracle)).size > 1)
    .map(([name]) => name)
    .toArray();
  const runs = results.reduce((sum, one) => sum + one.runs, 0);
  const seconds = results.reduce((sum, one) => sum + one.ms, 0) / 1000;
  const agreement = differing.length === 0 ? "agree" : `differ in the oracle of ${differing.join(", ")}`;
  return `${seeds.length} seeds ${agreement}: ${runs} runs in ${seconds.toFixed(0)} s, ${(runs / seconds).toFixed(1)} runs/s`;
}

/** `found 18 of 18, quiet on 18 of 18`, with time and runs. */
export function summaryText(results: readonly PatternResult[], seed: number): string {
  const found = results.filter((one) => isPassed({ ...one, alarms: [] })).length;
  const quiet = results.filter(({ alarms }) => alarms.length === 0).length;
  const runs = results.reduce((sum, one) => sum + one.runs, 0);
  const seconds = results.reduce((sum, one) => sum + one.ms, 0) / 1000;
  const of = results.length;
  return `found ${found} of ${of}, quiet on ${quiet} of ${of}: ${runs} runs in ${seconds.toFixed(0)} s, seed ${seed}`;
}
