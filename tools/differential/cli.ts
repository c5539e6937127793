// `npm run test:differential`: plays every script on a real kube-apiserver and on the embedded one, and compares.
import { globSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { findControlPlane } from "@konverge/real";
import type { Difference } from "./compare.ts";
import { KnownDifferences } from "./known-differences.ts";
import { asking, runScripts } from "./run.ts";
import { loadScripts } from "./script.ts";
import { type Address, embeddedTarget, realTarget, remoteTarget } from "./target.ts";
import { triplesOf } from "./triples.ts";

const { values: options } = parseArgs({
  options: {
    /** A folder of scripts from outside, instead of the project's own. */
    scripts: { type: "string" },
    /** Only scripts whose file or name matches this regular expression. */
    only: { type: "string" },
    /** Print every difference in full. */
    verbose: { type: "boolean", default: false },
    /** A JSON file with url, token and ca of a real server that runs already, instead of one that is started. */
    server: { type: "string" },
  },
});

const plane = findControlPlane();
if (!plane.available && !options.server) {
  console.log(`skipped: ${plane.why}`);
  console.log("0 passed, 0 failed, 1 skipped");
  process.exit(0);
}

const folder = options.scripts ?? new URL("./scripts", import.meta.url).pathname;
const only = new RegExp(options.only ?? "");
const scripts = globSync(`${folder}/**/*.yaml`)
  .sort()
  .flatMap(loadScripts)
  .filter(({ name, file }) => only.test(name) || only.test(file.slice(folder.length)));
const known = new KnownDifferences(new URL("./known-differences.yaml", import.meta.url));

await using real = options.server
  ? remoteTarget(JSON.parse(readFileSync(options.server, "utf8")) as Address)
  : await realTarget();
await using embedded = await embeddedTarget();
const triples = new Set<string>();
let answers = 0;
let failed = 0;
const prefix = `d${process.pid}`;
await runScripts(scripts, asking(real), embedded, prefix, ({ script, real: theirs, differences }) => {
  for (const triple of triplesOf(theirs)) triples.add(triple);
  answers += theirs.length;
  const unexpected = differences.filter((difference) => !known.covers(difference));
  if (unexpected.length === 0) return;
  failed++;
  report(script.name, unexpected);
});

const stale = options.only || options.scripts ? [] : known.unused();
for (const { reason } of stale) console.log(`a known difference no longer occurs, remove it: ${reason}`);
console.log(
  `\n${scripts.length} scripts, ${answers} answers compared, ${triples.size} distinct (verb, resource, outcome), ${known.count} known differences`,
);
console.log(`${scripts.length - failed} passed, ${failed + stale.length} failed`);
process.exitCode = failed + stale.length === 0 ? 0 : 1;

function report(name: string, differences: readonly Difference[]): void {
  console.log(`\n✖ ${name}`);
  for (const { step, what, path, real: theirs, embedded: ours } of differences.slice(
    0,
    options.verbose ? undefined : 8,
  )) {
    console.log(
      `  step ${step}: ${what}\n    ${path || "."}\n      real:     ${show(theirs)}\n      embedded: ${show(ours)}`,
    );
  }
  if (!options.verbose && differences.length > 8) console.log(`  … and ${differences.length - 8} more`);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "(absent)";
  return options.verbose || text.length < 300 ? text : `${text.slice(0, 300)}…`;
}
