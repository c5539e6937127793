// How smooth the console is with many objects and changes, and whether its memory is bounded: in Chromium, on an embedded
// cluster whose time passes 60 times as fast, so that a minute is an hour of it.
//   node --expose-gc bench/console/run.ts [--seconds 5] [--minutes 60]
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { type Cluster, startCluster } from "@konverge/cluster";
import { startConsole } from "@konverge/console";
import { TestBrowser } from "@konverge/console/chromium";
import { AdjustableClock, realClock, sleep } from "@konverge/core";
import { ConfigMap, Namespace } from "@konverge/kinds";
import { mebibytes, table, writeResult } from "../harness/results.ts";
import { measureFrames } from "./frames.ts";

const OBJECTS = 2000;
const CHANGES_PER_SECOND = 500;
/** Characters of each object: old versions of 30,000 changes are more than the console keeps. */
const SIZE = 2500;
const SPEED = 60;
/** Changes after which everything else gets its turn. */
const BATCH = 25;
const NAMESPACE = "many";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "5" }, minutes: { type: "string", default: "60" } },
});
const machine = realClock();
const clock = new AdjustableClock(machine);
await using cluster = await startCluster({ clock });
await using served = await startConsole({ client: cluster.client, title: "benchmark" });
const names = Array.from({ length: OBJECTS }, (_, i) => `n${i}`);
const filler = "x".repeat(SIZE);
await cluster.client.create(Namespace, { metadata: { name: NAMESPACE } });
for (const name of names)
  await cluster.client.create(ConfigMap, { metadata: { name, namespace: NAMESPACE }, data: { count: "0", filler } });

/** Changes objects at the rate that is measured, or slower if the machine is busy. Resolves to changes per second. */
async function changeMany({ client }: Cluster, stop: AbortSignal): Promise<number> {
  const started = machine.monotonic();
  let changed = 0;
  while (!stop.aborted) {
    const due = ((machine.monotonic() - started) / 1000) * CHANGES_PER_SECOND;
    for (let i = 0; i < BATCH && changed < due; i++, changed++) {
      const name = names[changed % names.length]!;
      await client.patch(ConfigMap, `${NAMESPACE}/${name}`, { merge: { data: { count: String(changed) } } });
    }
    await sleep(machine, 5);
  }
  return (changed * 1000) / (machine.monotonic() - started);
}

async function whileChanging<T>(work: () => Promise<T>): Promise<{ rate: number; result: T }> {
  const stop = new AbortController();
  const changes = changeMany(cluster, stop.signal);
  const result = await work();
  stop.abort();
  return { rate: await changes, result };
}

const views = ["/overview", "/resources", "/timeline", "/timeline?search=n1"];

async function smoothness(): Promise<string[][]> {
  await using browser = await TestBrowser.open(served.url);
  const rows: string[][] = [];
  for (const view of views) {
    await browser.go(view);
    await browser.sees("main", /./);
    const quiet = await measureFrames(browser.page, Number(values.seconds));
    const { rate, result } = await whileChanging(() => measureFrames(browser.page, Number(values.seconds)));
    const columns = [quiet, result].flatMap(({ p50, p95, dropped, longTasks }) => [
      p50.toFixed(1),
      p95.toFixed(1),
      `${(100 * dropped).toFixed(0)} %`,
      String(longTasks),
    ]);
    rows.push([view, rate.toFixed(0), ...columns]);
  }
  return rows;
}

async function memory(): Promise<{ rows: string[][]; rate: number }> {
  await using browser = await TestBrowser.open(`${served.url}`);
  await browser.go("/timeline");
  const session = await browser.page.createCDPSession();
  const heaps = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { JSHeapUsedSize = 0 } = await browser.page.metrics();
    globalThis.gc?.();
    return [mebibytes(JSHeapUsedSize), mebibytes(process.memoryUsage().heapUsed)];
  };
  const rows = [["0", ...(await heaps())]];
  clock.speed = SPEED;
  const total = Number(values.minutes);
  const { rate } = await whileChanging(async () => {
    for (let quarter = 1; quarter <= 4; quarter++) {
      await sleep(clock, (total / 4) * 60_000);
      rows.push([String((total / 4) * quarter), ...(await heaps())]);
    }
  });
  clock.speed = 1;
  return { rows, rate };
}

const frames = await smoothness();
const { rows: heaps, rate } = await memory();
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
writeResult(
  "console",
  "The console with many objects and changes",
  `Commit ${commit}. ${OBJECTS} ConfigMaps of ${SIZE} characters, ${CHANGES_PER_SECOND} changes a second requested, ${values.seconds} seconds for each
view, in headless Chromium on the same cores as the cluster, the console's server and the client that makes the changes.

A dropped frame is one of the 60 per second that was not drawn. A long task is one of more than 50 ms.

${table(["view", "changes/s", "idle p50 ms", "p95 ms", "dropped", "long tasks", "busy p50 ms", "p95 ms", "dropped", "long tasks"], frames)}

Memory while ${rate.toFixed(0)} changes a second go on, with the timeline open; the time of the cluster passes ${SPEED} times as fast:

${table(["minutes of the cluster", "JS heap of the page, MiB", "JS heap of the process with cluster and console, MiB"], heaps)}`,
);
process.exit(0);
