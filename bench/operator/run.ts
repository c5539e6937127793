// An operator on Konverge beside one on controller-runtime that does the same, on a real etcd and kube-apiserver, in one
// run: cold start, changes at a steady rate, a restart with nothing to do, repair, foreign objects in scope, a large cache.
//   node bench/operator/run.ts [--objects 2000] [--more 1000] [--children 500] [--foreign 20000] [--cached 100000] [--result operator]
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Client, connect } from "@konverge/client";
import { ConfigMap, Namespace } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { persist } from "../harness/persist.ts";
import { mebibytes, table, writeResult } from "../harness/results.ts";
import { createForeign, createWidget, forEach, Onlooker, widgetName } from "./load.ts";
import { OperatorProcess } from "./operator-process.ts";
import { controllerRuntimeOperator, konvergeOperator, type Program } from "./programs.ts";
import { countRequests, requestsBetween, requestText, writesIn } from "./requests.ts";
import { Widget } from "./widget.ts";

const RATE = 100;
const PATIENCE = 900_000;

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "2000" },
    more: { type: "string", default: "1000" },
    children: { type: "string", default: "500" },
    foreign: { type: "string", default: "20000" },
    cached: { type: "string", default: "100000" },
    result: { type: "string", default: "operator" },
  },
});
const [objects, more, children, foreign, cached] = [
  Number(values.objects),
  Number(values.more),
  Number(values.children),
  Number(values.foreign),
  Number(values.cached),
];

const plane = findControlPlane();
if (!plane.available) {
  console.log(`skipped: ${plane.why}`);
  process.exit(0);
}

interface Contestant {
  name: string;
  program: Program;
}

/** What is measured: in rows, one column for each operator. */
type Figures = Map<string, number>;

const contestants: Contestant[] = [
  { name: "konverge", program: await konvergeOperator() },
  { name: "controller-runtime", program: controllerRuntimeOperator() },
];
const figures = new Map<string, Figures>(contestants.map(({ name }) => [name, new Map()]));
const requests: string[][] = [];
if (objects > 0) for (const contestant of contestants) await withObjects(contestant);
if (cached > 0) await withMany();
report();

function noteFor(name: string): Note {
  return (what, value) => {
    figures.get(name)!.set(what, value);
    console.log(`${name}: ${what} ${value.toFixed(2)}`);
  };
}

/** What an operator does for its objects, in a cluster of its own. */
async function withObjects({ name, program }: Contestant): Promise<void> {
  await using cluster = await startRealCluster();
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  const note = noteFor(name);
  try {
    await prepare(cluster, client);
    await forEach(objects, (i) => createWidget(client, i));
    const onlooker = new Onlooker(client);
    let operator = new OperatorProcess(program, cluster.kubeconfig);
    await cold(name, cluster, onlooker, operator, note);
    await steady(name, cluster, client, onlooker, operator, note);
    await operator.stop();
    operator = new OperatorProcess(program, cluster.kubeconfig);
    await restart(name, cluster, operator, note);
    await repair(name, cluster, client, onlooker, operator, note);
    await operator.stop();
    await onlooker.stop();
  } finally {
    await client.close();
  }
}

/** What many objects cost: those that are nobody's business, then those that are cached whole. They are made once, for all. */
async function withMany(): Promise<void> {
  await using cluster = await startRealCluster();
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  try {
    await prepare(cluster, client);
    await createForeign(client, 0, foreign);
    for (const { name, program } of contestants) {
      const operator = new OperatorProcess(program, cluster.kubeconfig);
      await withForeign(operator, noteFor(name));
      await operator.stop();
    }
    await createForeign(client, foreign, cached);
    for (const { name, program } of contestants) {
      const holder = new OperatorProcess(program, cluster.kubeconfig, ["cache", String(cached)]);
      await withCached(holder, noteFor(name));
      await holder.stop();
    }
  } finally {
    await client.close();
  }
}

type Note = (what: string, value: number) => void;

async function prepare(cluster: RealCluster, client: Client): Promise<void> {
  const applied = await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(Widget.crd()));
  if (applied.code !== 0) throw new Error(applied.stderr);
  await cluster.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
  for (const name of ["default", "foreign"]) await client.create(Namespace, { metadata: { name } }).catch(() => {});
}

async function cold(name: string, cluster: RealCluster, onlooker: Onlooker, operator: OperatorProcess, note: Note) {
  const before = await countRequests(cluster);
  await until("all objects have a status", () => onlooker.done.size >= objects);
  const last = Math.max(...onlooker.done.values());
  note("cold: s", (last - operator.startedAt) / 1000);
  const { cpuSeconds, peakBytes } = operator.usage();
  note("cold: CPU s", cpuSeconds);
  note("cold: peak MiB", peakBytes / 2 ** 20);
  await operator.idle();
  noteRequests(name, "cold", requestsBetween(before, await countRequests(cluster), {}), note);
}

async function steady(
  name: string,
  cluster: RealCluster,
  client: Client,
  onlooker: Onlooker,
  operator: OperatorProcess,
  note: Note,
) {
  const before = await countRequests(cluster);
  const { cpuSeconds } = operator.usage();
  const created = new Map<string, number>();
  const begun = performance.now();
  const creating: Promise<void>[] = [];
  for (let i = 0; i < more; i++) {
    const due = begun + (i * 1000) / RATE;
    if (due > performance.now()) await sleep(due - performance.now());
    const one = widgetName(objects + i);
    creating.push(
      createWidget(client, objects + i).then(() => {
        created.set(one, performance.now());
      }),
    );
  }
  await Promise.all(creating);
  note("steady: created per s", more / ((performance.now() - begun) / 1000));
  await until("the new objects have a status", () => onlooker.done.size >= objects + more);
  const waits = [...created].map(([one, at]) => Math.max(0, onlooker.done.get(one)! - at)).sort((a, b) => a - b);
  note("steady: p50 ms", waits[Math.floor(waits.length * 0.5)]!);
  note("steady: p99 ms", waits[Math.floor(waits.length * 0.99)]!);
  await operator.idle();
  note("steady: CPU s", operator.usage().cpuSeconds - cpuSeconds);
  const own = { "post widgets": more };
  noteRequests(name, "steady", requestsBetween(before, await countRequests(cluster), own), note);
}

async function restart(name: string, cluster: RealCluster, operator: OperatorProcess, note: Note) {
  const before = await countRequests(cluster);
  note("restart: s", (await operator.idle()) / 1000);
  const { cpuSeconds, peakBytes } = operator.usage();
  note("restart: CPU s", cpuSeconds);
  note("restart: peak MiB", peakBytes / 2 ** 20);
  noteRequests(name, "restart", requestsBetween(before, await countRequests(cluster), {}), note);
}

async function repair(
  name: string,
  cluster: RealCluster,
  client: Client,
  onlooker: Onlooker,
  operator: OperatorProcess,
  note: Note,
) {
  const before = await countRequests(cluster);
  const { cpuSeconds } = operator.usage();
  const begun = performance.now();
  await forEach(children, (i) => persist(() => client.delete(ConfigMap, `default/${widgetName(i)}`)));
  const isBack = (i: number) => (onlooker.come.get(widgetName(i)) ?? 0) > begun;
  await until("all children are back", () => Array.from({ length: children }, (_, i) => i).every(isBack));
  const last = Math.max(...Array.from({ length: children }, (_, i) => onlooker.come.get(widgetName(i))!));
  note("repair: s", (last - begun) / 1000);
  await operator.idle();
  note("repair: CPU s", operator.usage().cpuSeconds - cpuSeconds);
  const own = { "delete configmaps": children };
  noteRequests(name, "repair", requestsBetween(before, await countRequests(cluster), own), note);
}

async function withForeign(operator: OperatorProcess, note: Note) {
  note("foreign: ready s", (await operator.idle()) / 1000);
  const { cpuSeconds, residentBytes, peakBytes } = operator.usage();
  note("foreign: CPU s", cpuSeconds);
  note("foreign: resident MiB", residentBytes / 2 ** 20);
  note("foreign: peak MiB", peakBytes / 2 ** 20);
}

async function withCached(holder: OperatorProcess, note: Note) {
  await holder.says();
  note("cache: ready s", (performance.now() - holder.startedAt) / 1000);
  await holder.idle();
  const { cpuSeconds, residentBytes, peakBytes } = holder.usage();
  note("cache: CPU s", cpuSeconds);
  note("cache: resident MiB", residentBytes / 2 ** 20);
  note("cache: peak MiB", peakBytes / 2 ** 20);
}

function noteRequests(name: string, phase: string, made: Map<string, number>, note: Note): void {
  note(`${phase}: writes`, writesIn(made));
  requests.push([phase, name, requestText(made)]);
  console.log(`${name}: ${phase}: ${requestText(made)}`);
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`it never came true that ${what}`);
    await sleep(10);
  }
}

function report(): void {
  const [own, other] = contestants.map(({ name }) => figures.get(name)!);
  const rows = [...own!].map(([what, value]) => {
    const theirs = other!.get(what) ?? 0;
    const digits = what.endsWith("MiB") || what.endsWith("writes") ? 0 : 2;
    const ratio = theirs > 0 ? (value / theirs).toFixed(2) : "";
    return [what, value.toFixed(digits), theirs.toFixed(digits), ratio];
  });
  const head = ["", ...contestants.map(({ name }) => name), "ratio"];
  writeResult(
    values.result,
    "An operator compared with controller-runtime",
    `A kind with a ConfigMap child and a status; ten workers; a real etcd and kube-apiserver 1.36 on the same machine, fresh for
each operator. Konverge is the published bundle, with Node's compile cache filled in advance, as in the image
(\`ENV NODE_COMPILE_CACHE\`). Cold: ${objects} objects exist when the operator starts. Steady: ${more} more at ${RATE} a second,
from the response to the creation until the status is observed. Restart: with nothing to do, until the process is idle.
Repair: ${children} children are deleted. Foreign: a start with ${foreign} unrelated ConfigMaps of 2 KB (${mebibytes(foreign * 2048)} MiB)
in scope. Cache: ${cached} ConfigMaps of 2 KB (${mebibytes(cached * 2048)} MiB), cached whole.

${table(head, rows)}

Requests, as the API server counts them (without those of the benchmark itself; reads include those of its observer):

${table(["", "operator", "requests"], requests)}`,
  );
}
