// An operator on Konverge, the same one on other frameworks, and the bare writes, on a real etcd and kube-apiserver, in one run
// (workload.ts says what they do). Rounds are interleaved, so that a machine that becomes slower does so for all.
//   npm run bench [-- OPTIONS]
//     --quick          fewer objects, one round; the result is printed and not kept
//     --rounds N       default: 5; 1 with --quick or --scale
//     --only a,b       these operators, and controller-runtime, which ratios refer to
//     --json FILE      writes every value of every round
//     --compare        compares konverge's ratios with those of bench/results/operator.md; exit code 1 if one is worse
//     --tolerance N    how much worse a ratio can be, default: 0.25
//     --scale          cold starts with 100 to 100,000 objects instead
//     --objects N --more N --children N --foreign N --cached N    sizes; 0 for objects or cached leaves these phases out
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findControlPlane } from "@konverge/real";
import { origin, resultPath, resultText, writeResult } from "../harness/results.ts";
import { CONTESTANTS } from "./contestants.ts";
import { compareRatios, type Figures, mediansOf, REFERENCE, ratiosOf } from "./figures.ts";
import { measureCached, measureCold, measureForeign, measureObjects, withForeign } from "./measure.ts";
import { plotRatios, plotScale } from "./plot.ts";
import { parseRatios, reportText } from "./report.ts";
import { Rounds } from "./rounds.ts";
import { describeScale, describeWorkload, FULL, QUICK, SCALE, type Sizes } from "./workload.ts";

const plots = join(import.meta.dirname, "..", "..", "docs", "benchmarks");
const PLOTTED = [
  "cold: s",
  "cold: CPU s",
  "cold: peak MiB",
  "steady: p50 ms",
  "steady: CPU s",
  "restart: s",
  "restart: CPU s",
  "repair: s",
  "foreign: resident MiB",
  "cache: resident MiB",
];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    only: { type: "string" },
    json: { type: "string" },
    compare: { type: "boolean", default: false },
    tolerance: { type: "string", default: "0.25" },
    scale: { type: "boolean", default: false },
    objects: { type: "string" },
    more: { type: "string" },
    children: { type: "string" },
    foreign: { type: "string" },
    cached: { type: "string" },
  },
});
const sizes = chosenSizes();
const names = chosenNames();
const isFull = Object.entries(FULL).every(([name, size]) => sizes[name as keyof Sizes] === size) && !values.quick;
const isKept = isFull && !values.only && !values.compare;
const committed = values.compare ? committedRatios() : undefined;

const plane = findControlPlane();
if (!plane.available) {
  console.log(`skipped: ${plane.why}`);
  process.exit(values.compare ? 2 : 0);
}

const rounds = new Rounds(Number(values.rounds ?? (values.quick || values.scale ? 1 : 5)));
await rounds.build(names);
if (values.scale) await measureScale();
else await measureWorkload();
if (rounds.failed) process.exitCode = 1;

async function measureWorkload(): Promise<void> {
  const { objects, foreign, cached } = sizes;
  if (objects > 0)
    await rounds.measure(
      () => true,
      (program, notes) => measureObjects(program, sizes, notes),
    );
  if (cached > 0)
    await withForeign(async (kubeconfig, grow) => {
      await grow(0, foreign);
      await rounds.measure(
        ({ caches }) => caches,
        (program, notes) => measureForeign(program, kubeconfig, notes),
      );
      await grow(foreign, cached);
      await rounds.measure(
        ({ caches }) => caches,
        (program, notes) => measureCached(program, cached, kubeconfig, notes),
      );
    });
  const ratios = ratiosOf(mediansOf(rounds.samples));
  finish("operator", "An operator compared with other frameworks", describeWorkload(sizes), () =>
    plotRatios(ratios, REFERENCE, PLOTTED, `Ratios to ${REFERENCE} (less is better)`),
  );
  if (committed) compare(committed, ratios.get("konverge") ?? new Map());
}

async function measureScale(): Promise<void> {
  const counts = values.quick ? SCALE.slice(0, 2) : SCALE;
  const what = (count: number, unit: string) => `${count} objects: ${unit}`;
  for (const [place, objects] of counts.entries()) {
    await rounds.measure(
      () => true,
      (program, notes) =>
        measureCold(
          program,
          { ...sizes, objects },
          {
            figure: (figure, value) => notes.figure(what(objects, figure.replace("cold: ", "")), value),
            requests: (_, text) => notes.requests(`${objects} objects`, text),
          },
        ),
    );
    // The last size takes most of the time: what was measured before it is not lost with it.
    const measured = counts.slice(0, place + 1);
    if (measured.length > 1)
      finish("operator-scale", "An operator with more and more objects", describeScale(measured), (medians) =>
        plotScale(medians, measured, ["s", "CPU s", "peak MiB"], what, "A cold start by the number of objects"),
      );
  }
}

/** Prints the result; a full one is also kept, with a plot. */
function finish(name: string, title: string, workload: string, plot: (medians: Figures) => string): void {
  const medians = mediansOf(rounds.samples);
  const versions = new Map(CONTESTANTS.map((contestant) => [contestant.name, contestant.version]));
  const { requests, missing, count } = rounds;
  const body = reportText({ medians, rounds: count, versions, requests, missing }, workload);
  if (values.json) writeJson(values.json, versions, ratiosOf(medians));
  if (isKept) {
    mkdirSync(plots, { recursive: true });
    writeFileSync(join(plots, `${name}.svg`), plot(medians));
    writeResult(name, title, `![${title}](../../docs/benchmarks/${name}.svg)\n\n${body}`);
  } else {
    console.log(`\n${resultText(title, body)}`);
    if (!values.compare) console.log(`not kept: bench/results/${name}.md holds full runs with all operators`);
  }
}

function writeJson(file: string, versions: ReadonlyMap<string, string>, ratios: Figures): void {
  const plain = (figures: ReadonlyMap<string, ReadonlyMap<string, unknown>>) =>
    Object.fromEntries([...figures].map(([name, entries]) => [name, Object.fromEntries(entries)]));
  const run = { ...origin(), sizes, rounds: rounds.count, versions: Object.fromEntries(versions) };
  const missing = Object.fromEntries(rounds.missing);
  const found = { ...run, samples: plain(rounds.samples), ratios: plain(ratios), missing };
  writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
}

function compare(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): void {
  const { worse, better } = compareRatios(before, now, Number(values.tolerance));
  for (const change of better) console.log(`better: ${change.what}: ${change.now?.toFixed(2)}, was ${change.before}`);
  for (const change of worse)
    console.log(`worse: ${change.what}: ${change.now?.toFixed(2) ?? "not measured"}, was ${change.before}`);
  console.log(`${worse.length} of ${before.size} ratios are worse by more than ${values.tolerance}`);
  if (worse.length > 0) process.exitCode = 1;
}

/** Read before anything is measured: without them, an hour of measuring would be for nothing. */
function committedRatios(): ReadonlyMap<string, number> {
  if (!isFull || values.scale)
    stop("--compare needs the sizes of the committed table: leave out other options of size");
  try {
    const path = resultPath("operator");
    const ratios = parseRatios(existsSync(path) ? readFileSync(path, "utf8") : "").get("konverge");
    return ratios ?? stop("the committed table has no column konverge: run npm run bench first");
  } catch (error) {
    return stop(error instanceof Error ? error.message : String(error));
  }
}

function chosenSizes(): Sizes {
  const preset = values.quick ? QUICK : FULL;
  const size = (name: keyof Sizes): number => {
    const number = Number(values[name] ?? preset[name]);
    return Number.isInteger(number) && number >= 0 ? number : stop(`--${name} must be a number, not ${values[name]}`);
  };
  return {
    objects: size("objects"),
    more: size("more"),
    children: size("children"),
    foreign: size("foreign"),
    cached: size("cached"),
  };
}

/** Ratios are to the reference, so it is always there. */
function chosenNames(): readonly string[] {
  const all = CONTESTANTS.map(({ name }) => name);
  const preset = values.compare ? ["konverge"] : values.scale ? ["konverge", "kube-rs"] : all;
  const only = values.only?.split(",") ?? preset;
  const unknown = only.filter((name) => !all.includes(name));
  if (unknown.length > 0) stop(`no operator is called ${unknown.join(", ")}; there are ${all.join(", ")}`);
  return [...only, REFERENCE];
}

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}
