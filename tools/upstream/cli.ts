// `npm run upstream`: the manifests of upstream projects on a cluster with our operators: how many are accepted, how many
// converge on simulated nodes, and why the others do not.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { AnyObject } from "@konverge/core";
import { rotatingSeed, sample } from "../../scripts/sample.ts";
import { attempt } from "./attempt.ts";
import { manifestsOf } from "./manifests.ts";
import { measuredOperator } from "./measured-operator.ts";
import { type Measured, pageOf, reasonsOf, summaryOf } from "./report.ts";
import { UPSTREAMS } from "./upstreams.ts";

const { values: options } = parseArgs({
  options: {
    /** Names of projects, with commas. Default: those that a registry has. */
    only: { type: "string" },
    /** Checkouts of projects: `dynamo=DIR`, several times. */
    from: { type: "string", multiple: true, default: [] },
    /** Part of a file's path. */
    file: { type: "string", default: "" },
    /** One of N manifests, another one for each commit. */
    sample: { type: "string" },
    seed: { type: "string" },
    /** Writes the tables to this file. */
    write: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log(
    "npm run upstream -- [--only ray,trainer] [--from dynamo=DIR] [--file PART] [--sample N [--seed S]] [--write FILE]",
  );
  process.exit(0);
}

const checkouts = new Map(options.from.map((one) => one.split(/=(.*)/s).slice(0, 2) as [string, string]));
for (const name of [...checkouts.keys(), ...(options.only?.split(",") ?? [])])
  if (!UPSTREAMS.some((upstream) => upstream.name === name)) {
    console.error(`there is no project ${name}: the projects are ${UPSTREAMS.map((one) => one.name).join(", ")}`);
    process.exit(2);
  }
const isChosen = ({ name, module }: (typeof UPSTREAMS)[number]) =>
  options.only ? options.only.split(",").includes(name) : module !== undefined || checkouts.has(name);

const measured: Measured[] = [];
const seed = rotatingSeed(options.seed);
if (options.sample) console.log(`one of ${options.sample} manifests, --seed ${seed}`);
for (const upstream of UPSTREAMS.filter(isChosen)) {
  const checkout = checkouts.get(upstream.name);
  const { manifests, templates, installed } = manifestsOf(upstream, checkout);
  const operatorFor = (objects: readonly AnyObject[]) =>
    measuredOperator(upstream.operator, [...installed, ...objects]);
  const named = manifests.filter(({ file }) => file.includes(options.file));
  const attempts = [];
  for (const manifest of options.sample ? sample(named, Number(options.sample), seed) : named) {
    const result = await attempt(upstream, operatorFor(manifest.objects), manifest, installed).catch(
      (error: Error) => ({
        file: manifest.file,
        result: "accepted" as const,
        reasons: [error.message.split("\n")[0]!],
        unknownFields: [],
      }),
    );
    attempts.push(result);
    console.log(`${result.result.padEnd(9)} ${upstream.name} ${result.file}`);
    for (const reason of result.reasons) console.log(`          | ${reason.slice(0, 600)}`);
  }
  measured.push({ upstream, source: checkout ? "checkout" : "Go module", attempts, templates });
}
for (const one of measured) {
  console.log(`\n${summaryOf(one)}`);
  for (const result of ["refused", "accepted"] as const)
    for (const [reason, count] of reasonsOf(one.attempts, result))
      console.log(`${String(count).padStart(5)} × ${result}: ${reason}`);
}
if (options.write) writeFileSync(options.write, `${pageOf(measured)}\n`);
