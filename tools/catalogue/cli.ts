// `npm run catalogue`: explores reconcilers with known faults, and the same without them.
import { parseArgs } from "node:util";
import { FAULT_FAMILIES, type FaultFamily, findingText } from "@konverge/testing";
import { type PatternResult, patternsIn, tryPattern } from "./catalogue.ts";
import { isPassed, resultText, seedsText, summaryText } from "./result-text.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dir: { type: "string", default: import.meta.dirname },
    seeds: { type: "string", default: "1" },
    faults: { type: "string" },
    first: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

const patterns = patternsIn(values.dir).filter(
  ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
);
const faults = values.faults === "all" ? FAULT_FAMILIES : (values.faults?.split(",") as FaultFamily[] | undefined);
const seeds: PatternResult[][] = [];
for (let seed = 1; seed <= Number(values.seeds); seed++) {
  const results: PatternResult[] = [];
  for (const pattern of patterns) {
    const result = await tryPattern(pattern, seed, faults, !values.first);
    results.push(result);
    console.log(resultText(result));
    if (values.verbose)
      for (const finding of [result.found, ...result.alarms]) if (finding) console.log(findingText(finding));
  }
  console.log(summaryText(results, seed));
  seeds.push(results);
}
if (seeds.length > 1) console.log(seedsText(seeds));
process.exitCode = seeds.flat().every(isPassed) ? 0 : 1;
