// What exploring a Go program on virtual time costs, and whether its memory grows: the small operator of packages/testing/test/go-operator,
// again and again with other seeds, in one process.
//   node bench/explorer/go.ts [--runs 1000]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { buildGoProgram, exploreGo, findingText, GoModule, parseScenario } from "@konverge/testing";
import { table, writeResult } from "../harness/results.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "1000" } } });
const wanted = Number(values.runs);
const sources = join(import.meta.dirname, "../../packages/testing/test/go-operator");
const folder = mkdtempSync(join(tmpdir(), "konverge-go-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const module = await GoModule.read(buildGoProgram({ package: ".", folder: sources, output: folder }));
const scenario = parseScenario(`
program: {args: [correct]}
steps:
- apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {parent: "yes"}}}
- wait: {for: configmap/web-first, expression: "object.kind == 'ConfigMap'"}
`);

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const rows: string[][] = [];
const begun = performance.now();
const before = process.cpuUsage();
let runs = 0;
for (let seed = 1, next = 0; runs < wanted; seed++) {
  const { findings, ...exploration } = await exploreGo({ module, scenario, seed, faults: ["crash", "error", "stale"] });
  if (findings.length > 0) throw new Error(`with seed ${seed}: ${findings.map(findingText).join("\n")}`);
  runs += exploration.runs;
  if (runs < next) continue;
  next = runs + wanted / 10;
  collectGarbage();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  rows.push([String(runs), ...[heapUsed, arrayBuffers, rss].map((bytes) => (bytes / 2 ** 20).toFixed(0))]);
  console.error(rows.at(-1)!.join(" "));
}
const seconds = (performance.now() - begun) / 1000;
const { user, system } = process.cpuUsage(before);
const cpu = (user + system) / 1e6;

writeResult(
  "explorer-go",
  "What exploring a Go program costs",
  `
\`node bench/explorer/go.ts --runs ${wanted}\`: the small operator of \`packages/testing/test/go-operator\`, crashes, errors and stale caches at every point of
one scenario, with one seed after another in one process. ${runs} runs took ${seconds.toFixed(0)} s and ${cpu.toFixed(0)} s of CPU: ${(runs / seconds).toFixed(1)} runs per second, ${(runs / cpu).toFixed(1)} per second of CPU.

Memory in MiB after a garbage collection:

${table(["after runs", "heap", "buffers, with the memories of instances", "resident"], rows)}
`,
);
