// `npm run test:differential`: plays every script on a real kube-apiserver and on the embedded one, and compares.
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { findControlPlane } from "@konverge/real";
import { compare, type Difference } from "./compare.ts";
import { KnownDifferences } from "./known-differences.ts";
import { normalise } from "./normalise.ts";
import { play } from "./play.ts";
import { loadScripts } from "./script.ts";
import { embeddedTarget, realTarget } from "./target.ts";
import { triplesOf } from "./triples.ts";

const { values: options } = parseArgs({
  options: {
    /** A folder of scripts from outside, instead of the project's own. */
    scripts: { type: "string" },
    /** Only scripts whose name matches this regular expression. */
    only: { type: "string" },
    /** Print every difference in full. */
    verbose: { type: "boolean", default: false },
  },
});

const plane = findControlPlane();
if (!plane.available) {
  console.log(`skipped: ${plane.why}`);
  console.log("0 passed, 0 failed, 1 skipped");
  process.exit(0);
}

const folder = options.scripts ?? new URL("./scripts", import.meta.url).pathname;
const only = new RegExp(options.only ?? "");
const scripts = globSync(`${folder}/**/*.yaml`)
  .sort()
  .flatMap(loadScripts)
  .filter(({ name }) => only.test(name));
const known = new KnownDifferences(new URL("./known-differences.yaml", import.meta.url));

await using real = await realTarget();
await using embedded = await embeddedTarget();
const triples = new Set<string>();
let requests = 0;
let passed = 0;
let failed = 0;
for (const [index, script] of scripts.entries()) {
  const namespace = `script-${index + 1}`;
  const [theirs, ours] = await Promise.all([
    play(script, real.transport, namespace),
    play(script, embedded.transport, namespace),
  ]);
  for (const triple of triplesOf(theirs)) triples.add(triple);
  requests += theirs.length;
  const differences = compare(script.name, normalise(theirs), normalise(ours)).filter(
    (difference) => !known.covers(difference),
  );
  if (differences.length === 0) passed++;
  else {
    failed++;
    report(script.name, differences);
  }
}
const stale = options.only || options.scripts ? [] : known.unused();
for (const { reason } of stale) console.log(`a known difference no longer occurs, remove it: ${reason}`);
console.log(
  `\n${scripts.length} scripts, ${requests} answers compared, ${triples.size} distinct (verb, resource, outcome), ${known.count} known differences`,
);
console.log(`${passed} passed, ${failed + stale.length} failed`);
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
