// `npm run test:differential`: plays every script on a real kube-apiserver and on the embedded one, and compares.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { findControlPlane } from "@konverge/real";
import { allScripts } from "./all-scripts.ts";
import type { Difference } from "./compare.ts";
import { explore } from "./explore.ts";
import { scriptText } from "./generate.ts";
import { huntMutants } from "./hunt.ts";
import { KnownDifferences } from "./known-differences.ts";
import { Recording } from "./recording.ts";
import { asking, runScripts } from "./run.ts";
import type { Script } from "./script.ts";
import { type Address, embeddedTarget, realTarget, remoteTarget } from "./target.ts";
import { triplesOf } from "./triples.ts";
import { startWebhooks } from "./webhooks.ts";

const { values: options } = parseArgs({
  options: {
    /** A folder of scripts from outside, instead of the project's own. */
    scripts: { type: "string" },
    /** Only scripts whose file or name matches this regular expression. */
    only: { type: "string" },
    /** How many random conversations to hold on top. */
    runs: { type: "string", default: "40" },
    /** Which ones: the same number gives the same conversations. */
    seed: { type: "string", default: "1" },
    /** Remember what the real server says, for the tests that run without one. */
    record: { type: "boolean", default: false },
    /** Instead of comparing: plant one mistake after the other in the embedded server, and see that each is noticed. */
    mutants: { type: "boolean", default: false },
    /** Print every difference in full. */
    verbose: { type: "boolean", default: false },
    /** A JSON file with url, token and ca of a real server that runs already, instead of one that is started. */
    server: { type: "string" },
  },
});

if (options.mutants) {
  let [caught, missed] = [0, 0];
  await huntMutants(({ mutant, by }) => {
    if (by === undefined) missed++;
    else caught++;
    console.log(`${by === undefined ? "✖ nothing notices" : "✔"} ${mutant.name}${by === undefined ? "" : ` (${by})`}`);
  });
  console.log(`\n${caught} mutants caught, ${missed} not`);
  console.log(`${caught} passed, ${missed} failed`);
  process.exit(missed === 0 ? 0 : 1);
}

const plane = findControlPlane();
if (!plane.available && !options.server) {
  console.log(`skipped: ${plane.why}`);
  console.log("0 passed, 0 failed, 1 skipped");
  process.exit(0);
}

const only = new RegExp(options.only ?? "");
const scripts = allScripts(options.scripts).filter(({ name, file }) => only.test(name) || only.test(file));
if (scripts.length === 0) {
  const where = options.scripts ?? "tools/differential/scripts";
  console.log(
    `no script in ${where}${options.only ? ` matches ${options.only}` : ": it needs *.yaml files, see docs/reference/differential.md"}`,
  );
  console.log("0 passed, 1 failed");
  process.exit(1);
}
const known = new KnownDifferences(new URL("./known-differences.yaml", import.meta.url));

await using real = options.server
  ? remoteTarget(JSON.parse(readFileSync(options.server, "utf8")) as Address)
  : await realTarget();
await using embedded = await embeddedTarget();
await using webhooks = await startWebhooks();
const variables = { webhooks: webhooks.url, caBundle: webhooks.caBundle };
const triples = new Set<string>();
const recording = new Recording();
let answers = 0;
let failed = 0;
const prefix = `d${process.pid}`;
/** Compares scripts, and gives those that differ with their differences. */
async function differing(tried: readonly Script[], round: string): Promise<[Script, Difference[]][]> {
  const found: [Script, Difference[]][] = [];
  await runScripts(
    tried,
    asking(real, variables),
    embedded,
    { prefix: `${prefix}${round}`, variables },
    ({ script, real: theirs, differences }) => {
      for (const triple of triplesOf(theirs)) triples.add(triple);
      answers += theirs.length;
      const unexpected = differences.filter((difference) => !known.covers(difference));
      for (const result of theirs) {
        if ("failed" in result) console.log(`${script.name}, step ${result.step} on the real server: ${result.failed}`);
      }
      if (unexpected.length === 0) recording.set(script, theirs, differences);
      else found.push([script, unexpected]);
    },
  );
  return found;
}

// The real server answers some requests from the caches of its informers, which lag. Scripts with a difference are therefore
// run again, alone: a difference that does not recur is reported, but does not count.
const suspects = await differing(scripts, "");
for (const [index, [script, before]] of suspects.entries()) {
  const [again] = await differing([script], `again${index}`);
  report(again ? script.name : `${script.name} (at the first try alone)`, again?.[1] ?? before);
  if (again) failed++;
}

if (options.record) recording.save(allScripts());

const runs = (options.only && options.only !== "generated") || options.scripts ? 0 : Number(options.runs);
if (runs > 0) {
  const {
    failure,
    answers: more,
    seed,
  } = await explore(real, embedded, known, { runs, seed: Number(options.seed), prefix });
  answers += more;
  console.log(`${runs} generated conversations with seed ${seed}`);
  if (failure) {
    failed++;
    report(`generated, seed ${seed}`, failure.differences);
    console.log(`\n${scriptText(failure.script)}`);
  }
}

const stale = options.only || options.scripts ? [] : known.unused();
for (const { reason } of stale) console.log(`a known difference no longer occurs, remove it: ${reason}`);
console.log(
  `\n${scripts.length} scripts, ${answers} answers compared, ${triples.size} distinct (verb, resource, outcome), ${known.count} known differences`,
);
console.log(`${scripts.length + (runs > 0 ? 1 : 0) - failed} passed, ${failed + stale.length} failed`);
process.exitCode = failed + stale.length === 0 ? 0 : 1;

function report(name: string, differences: readonly Difference[]): void {
  console.log(`\n✖ ${name}`);
  const shown = options.verbose ? differences : differences.slice(0, 8);
  let step: number | undefined;
  for (const difference of shown) {
    if (difference.step !== step) console.log(`  step ${difference.step}: ${difference.what}`);
    step = difference.step;
    const [theirs, ours] = sideBySide(difference);
    console.log(`    ${difference.path || "."}\n      real:     ${theirs}\n      embedded: ${ours}`);
  }
  if (shown.length < differences.length) console.log(`  … and ${differences.length - shown.length} more`);
}

/** Both values, long ones from shortly before where they part. */
function sideBySide({ real: theirs, embedded: ours }: Difference): [string, string] {
  const [a, b] = [theirs, ours].map((value) => JSON.stringify(value) ?? "(absent)") as [string, string];
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const start = options.verbose || same < 80 ? 0 : same - 60;
  const cut = (text: string) => {
    const from = start === 0 ? text : `…${text.slice(start)}`;
    return options.verbose || from.length < 300 ? from : `${from.slice(0, 300)}…`;
  };
  return [cut(a), cut(b)];
}
