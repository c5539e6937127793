// The cost of exploring: the patterns in `tools/catalogue`, and an operator of this repository with faults in one scenario.
//   node bench/explorer/run.ts [--patterns 01,09] [--faults 100]
import { join } from "node:path";
import { parseArgs } from "node:util";
import { explore, POINT_FAMILIES } from "@konverge/testing";
import { cluster, withoutAddresses } from "../../operators/ray/test/scenarios.ts";
import { patternsIn, tryPattern } from "../../tools/catalogue/catalogue.ts";
import { table, writeResult } from "../harness/results.ts";

const { values } = parseArgs({ options: { patterns: { type: "string", default: "" }, faults: { type: "string" } } });
const chosen = values.patterns.split(",");
const all = patternsIn(join(import.meta.dirname, "../../tools/catalogue"));
const patterns = all.filter(({ name }) => values.patterns === "" || chosen.some((part) => name.startsWith(part)));

/** How many runs something makes, and what they cost. */
async function cost(what: string, work: () => Promise<number>): Promise<number> {
  const begun = performance.now();
  const before = process.cpuUsage();
  const runs = await work();
  const { user, system } = process.cpuUsage(before);
  const [seconds, cpu] = [(performance.now() - begun) / 1000, (user + system) / 1e6];
  const cells = [seconds.toFixed(0), cpu.toFixed(0), (runs / seconds).toFixed(1), (runs / cpu).toFixed(1)];
  rows.push([what, String(runs), ...cells]);
  return runs;
}

const rows: string[][] = [];
await cost(`these ${patterns.length} patterns`, async () => {
  let runs = 0;
  for (const pattern of patterns) runs += await cost(pattern.name, async () => (await tryPattern(pattern, 1)).runs);
  return runs;
});
const sample = values.faults === undefined ? {} : { runs: Number(values.faults) };
const tried = values.faults ?? "all";
for (const time of ["cold", "warm"]) {
  await cost(`operator: a RayCluster is made, ${tried} faults (${time} code)`, async () => {
    const options = { mask: withoutAddresses, faults: POINT_FAMILIES, ...sample };
    const { runs, findings } = await explore(cluster, options);
    if (findings.length > 0) throw new Error(`${findings.length} findings: fix them first`);
    return runs;
  });
}

writeResult(
  "explorer",
  "What exploring costs",
  `
One process, one core. For each pattern of \`tools/catalogue\`: the faulty reconciler until the mistake is found, replayed, and explored again without the
faults that show it; then its fixed twin with all faults. ${patterns.length} of ${all.length} patterns were measured. \`node bench/explorer/run.ts\` measures all of
them and all faults of the operator.

${table(["", "runs", "s", "CPU s", "runs/s", "runs per CPU s"], rows)}

As context, from their papers: Sieve needs 5 to 30 minutes to reproduce one bug on a real cluster; Acto's campaign of 11 operators took about 1,920
machine-hours. They test operators as they are, in containers; what is compared is the time until an answer, not the same work.
`,
);
