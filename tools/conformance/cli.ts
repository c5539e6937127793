// npm run conformance [-- --sig api-machinery,apps] [--real | --real-nodes] [--jobs N] [--timeout S] [--focus REGEX]
//                     [--check [--sample N]] [--missing] [--update] [--output DIR] [--held-out N --seed S]
// Runs Kubernetes' own conformance specs on the embedded cluster, with --real-nodes on its control plane with two real nodes, or
// with --real on the real control plane with KWOK. With --held-out, it runs a random sample of the specs that are no conformance
// specs, and prints the score.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { prepare } from "./binaries.ts";
import { killE2e } from "./e2e-process.ts";
import { type ListName, listedSigs, readList, sampleOf, writeList } from "./lists.ts";
import { whyNotOnNodes } from "./node-images.ts";
import { updatePage } from "./reference-page.ts";
import { heldOutText, reportText } from "./report.ts";
import type { SpecResult } from "./run-spec.ts";
import { runSpecs } from "./run-specs.ts";
import { CONFORMANCE, HELD_OUT, listImages, listSpecs, type Spec } from "./specs.ts";
import { embeddedTarget, realNodesTarget, realTarget, type Target } from "./target.ts";

const { values: options } = parseArgs({
  options: {
    sig: { type: "string" },
    real: { type: "boolean", default: false },
    "real-nodes": { type: "boolean", default: false },
    jobs: { type: "string", default: "2" },
    timeout: { type: "string" },
    focus: { type: "string" },
    check: { type: "boolean", default: false },
    sample: { type: "string" },
    missing: { type: "boolean", default: false },
    update: { type: "boolean", default: false },
    output: { type: "string" },
    "held-out": { type: "string" },
    seed: { type: "string" },
  },
});

/** How many specs that are known to pass one process runs. */
const BATCH = 8;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    killE2e();
    // A cluster with real nodes listens too: it removes them first, and exits then.
    if (process.listenerCount(signal) === 1) process.exit(130);
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  killE2e();
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function main(): Promise<number> {
  const sigs =
    options.sig?.split(",") ?? (options.check || options.missing ? listedSigs(listName()) : ["api-machinery"]);
  // What is known to pass is waited for: some specs watch for minutes that nothing happens.
  const timeoutSeconds = positive("timeout", options.timeout ?? (options.check ? "600" : "60"));
  const jobs = positive("jobs", options.jobs);
  if (options.update && (options.sample || options.check)) {
    throw new Error("--update notes what passes now: leave out --sample and --check");
  }
  const heldOut = options["held-out"] === undefined ? undefined : positive("held-out", options["held-out"]);
  if (heldOut !== undefined && (options.seed === undefined || options.check || options.update || options.missing))
    throw new Error("--held-out N takes --seed S, and neither --check nor --missing nor --update");
  const { e2e, kubectl } = prepare();
  const all = await listSpecs(e2e, heldOut === undefined ? CONFORMANCE : HELD_OUT);
  const chosen = heldOut === undefined ? choose(all, sigs) : sampleOf(all, heldOut, options.seed);
  if (chosen.length === 0 && options.missing) {
    console.log(`none is missing: all specs of ${sigs.join(", ")} pass`);
    return 0;
  }
  if (chosen.length === 0) throw new Error("no spec is chosen: see the names in tools/conformance/passing");
  await using target = await targetFor(e2e);
  console.log(`${chosen.length} specs on ${target.name}, ${jobs} at a time, ${timeoutSeconds} s each\n`);
  // What is known to pass does so beside others; the rest is looked at one by one.
  const run = { e2e, kubectl, kubeconfig: target.kubeconfig, timeoutSeconds, batch: options.check ? BATCH : 1 };
  const results = await runSpecs(chosen, jobs, run, progress);
  const log = target.log();
  if (log !== "") console.log(`\nThe cluster complained:\n${log}`);
  console.log(`\n${reportText(results)}`);
  if (heldOut !== undefined) {
    console.log(heldOutText(results, { seed: options.seed ?? "", of: all.length }));
    return 0;
  }
  if (options.update) update(all, results, timeoutSeconds);
  else if (listName() === "passing" && !options.check) compareWithYardstick(results);
  return results.every(({ passed }) => passed) || options.update ? 0 : 1;
}

async function targetFor(e2e: string): Promise<Target> {
  if (options.real) return await realTarget();
  const images = await listImages(e2e);
  return await (options["real-nodes"] ? realNodesTarget(images) : embeddedTarget(images));
}

function choose(specs: readonly Spec[], sigs: readonly string[]): Spec[] {
  const focus = options.focus === undefined ? undefined : new RegExp(options.focus);
  let chosen = specs.filter(({ sig, name }) => sigs.includes(sig) && (focus?.test(name) ?? true));
  if (options["real-nodes"]) chosen = chosen.filter(({ name }) => isServed(name));
  const known = (sig: string) => readList(listName(), sig)?.names ?? [];
  if (options.missing) chosen = chosen.filter(({ sig, name }) => !known(sig).includes(name));
  if (options.check) {
    const listed = new Set(sigs.flatMap(known));
    const unknown = [...listed].filter((name) => !specs.some((spec) => spec.name === name));
    if (unknown.length > 0) throw new Error(`listed, and not in e2e.test:\n${unknown.join("\n")}`);
    chosen = chosen.filter(({ name }) => listed.has(name));
  }
  return options.sample === undefined ? chosen : sampleOf(chosen, positive("sample", options.sample));
}

function isServed(name: string): boolean {
  const why = whyNotOnNodes(name);
  if (why) console.log(`left out: ${name}\n    ${why}`);
  return why === undefined;
}

function progress({ spec, passed, secondTry, reason, output }: SpecResult): void {
  const tried = secondTry ? " (second try)" : "";
  console.log(passed ? `passed${tried} ${spec.name}` : `FAILED${tried} ${spec.name}\n    ${reason}`);
  if (options.output === undefined) return;
  mkdirSync(options.output, { recursive: true });
  const file = spec.name.replaceAll(/[^A-Za-z0-9]+/g, "-").slice(0, 200);
  writeFileSync(join(options.output, `${passed ? "passed" : "failed"}${file}.log`), output);
}

/** Notes which of the specs that ran pass; what is known of others stays. */
function update(all: readonly Spec[], results: readonly SpecResult[], timeoutSeconds: number): void {
  const date = new Date().toISOString().slice(0, 10);
  const where = {
    passing: "the embedded cluster",
    nodes: "the embedded control plane with two real nodes",
    yardstick: "the real control plane with KWOK",
  }[listName()];
  for (const [sig, ofSig] of Map.groupBy(results, ({ spec }) => spec.sig)) {
    const ran = new Set(ofSig.map(({ spec }) => spec.name));
    const known = readList(listName(), sig)?.names.filter((name) => !ran.has(name)) ?? [];
    const names = [...known, ...ofSig.filter(({ passed }) => passed).map(({ spec }) => spec.name)];
    const count = all.filter((spec) => spec.sig === sig).length;
    const about = `${date}: ${names.length} of ${count} pass on ${where} within ${timeoutSeconds} s each`;
    writeList(listName(), sig, { about, names });
  }
  updatePage();
}

/** What the real control plane does, and the embedded cluster does not. */
function compareWithYardstick(results: readonly SpecResult[]): void {
  const failed = results.filter(({ passed }) => !passed).map(({ spec }) => spec);
  const behind = failed.filter(({ sig, name }) => readList("yardstick", sig)?.names.includes(name));
  if (behind.length === 0) return;
  console.log(`\nThese pass on the real control plane:\n${behind.map(({ name }) => name).join("\n")}`);
}

function listName(): ListName {
  if (options.real) return "yardstick";
  return options["real-nodes"] ? "nodes" : "passing";
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number above 0, not ${text}`);
  return value;
}
