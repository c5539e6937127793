import { faultText } from "@konverge/testing";
import type { PatternResult } from "./catalogue.ts";

/** A pattern's result in a few lines: the oracle and the faults, or what is missing. */
export function resultText({ pattern, found, confirmed, alarms, runs, ms }: PatternResult): string {
  const cost = `${runs} runs, ${(ms / 1000).toFixed(1)} s`;
  const lines = [
    `${pattern.name}: ${found ? "found" : "NOT FOUND"}, ${alarms.length === 0 ? "quiet" : "FALSE ALARM"} (${cost})`,
  ];
  if (found) {
    lines.push(`  ${found.oracle}: ${found.message}${confirmed ? "" : " (NOT REPRODUCED)"}`);
    lines.push(
      ...(found.faults.length === 0 ? ["  no fault needed"] : found.faults.map((one) => `  ${faultText(one)}`)),
    );
  }
  for (const { oracle, message, faults } of alarms) {
    lines.push(`  false alarm: ${oracle}: ${message} [${faults.map(faultText).join("; ") || "no fault"}]`);
  }
  return lines.join("\n");
}

/** `found 18 of 18, quiet on 18 of 18`, with time and runs. */
export function summaryText(results: readonly PatternResult[], seed: number): string {
  const found = results.filter((one) => one.found && one.confirmed).length;
  const quiet = results.filter(({ alarms }) => alarms.length === 0).length;
  const runs = results.reduce((sum, one) => sum + one.runs, 0);
  const seconds = results.reduce((sum, one) => sum + one.ms, 0) / 1000;
  const of = results.length;
  return `found ${found} of ${of}, quiet on ${quiet} of ${of}: ${runs} runs in ${seconds.toFixed(0)} s, seed ${seed}`;
}
