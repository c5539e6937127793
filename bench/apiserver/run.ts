// The embedded API server next to etcd + kube-apiserver, on this machine, in one run: start to first answer, creates, lists
// of many objects, watch fan-out and what an object costs.
//
//     node bench/apiserver/run.ts [--objects 10000] [--watchers 1000] [--rounds 5]
//
// Prints a table and writes it to bench/results/apiserver.md. Every measurement is the best of several rounds in which the
// servers take turns, so that what else the machine does hits all of them.
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ApiServer, SqliteJournal } from "@konverge/apiserver";
import { realClock } from "@konverge/core";
import { findControlPlane } from "../../tools/real/index.ts";
import { type Caller, inProcess, overTls } from "./callers.ts";
import { type Contestant, embedded, real } from "./contestants.ts";
import { create, fanOut, list, listPages, type Measured, measured, namespace } from "./measures.ts";
import { type Row, write } from "./report.ts";

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "10000" },
    watchers: { type: "string", default: "1000" },
    rounds: { type: "string", default: "5" },
  },
});
const [objects, watchers, rounds] = [values.objects, values.watchers, values.rounds].map(Number) as [
  number,
  number,
  number,
];
const plane = findControlPlane();
if (!plane.available) console.log(`without the real one: ${plane.why}`);
const servers: (() => Promise<Contestant>)[] = [
  () => embedded("memory"),
  () => embedded("SQLite"),
  ...(plane.available ? [real] : []),
];
const rows: Row[] = [];
const loads = [loadavg()[0]!];

note("starts");
await starts();
const folder = mkdtempSync(join(tmpdir(), "konverge-bench-"));
const journal = new SqliteJournal({ path: join(folder, "state.db") });
const here: { name: string; caller: Caller; contestant?: Contestant }[] = [
  { name: "embedded, memory, in process", caller: inProcess(new ApiServer()) },
  { name: "embedded, SQLite, in process", caller: inProcess(new ApiServer({ journal })) },
];
const contestants: Contestant[] = [];
for (const start of servers) contestants.push(await start());
try {
  const ways = [...here, ...contestants.flatMap(overBoth)];
  note("creates");
  await creates(ways);
  note(`storing ${objects} objects`);
  await storing(contestants);
  note("lists");
  await lists(ways.filter(({ name }) => !name.endsWith("HTTP/2")));
  note("fan-out");
  await fanOuts(contestants);
  for (const { caller } of ways) await caller.close();
} finally {
  for (const contestant of contestants) await contestant[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
loads.push(loadavg()[0]!);

const explanation = `The real server's etcd runs without fsync, and the embedded server's SQLite file without fsync per commit: both keep
acknowledged writes when a process is killed. Servers run in separate processes, except "in process". Objects are ConfigMaps of
about a kilobyte. "× real" is how many times better a server is than the real one, in the unit of the row and over the same
protocol (in process: than the real one over HTTP/1.1). "× CPU" is how many times less CPU time it used (in process: including
its client), which other work on the machine affects less.`;
const [before, after] = loads.map((one) => one.toFixed(1));
const load = `Best of ${rounds} rounds. Load average (one minute): ${before} before, ${after} after.`;
console.log(write(rows, explanation, load));
process.exit(0);

function note(stage: string): void {
  console.error(`${stage} …`);
}

function overBoth(contestant: Contestant) {
  return (["HTTP/1.1", "HTTP/2"] as const).map((version) => ({
    name: `${contestant.name}, ${version}`,
    caller: overTls(contestant, version),
    contestant,
  }));
}

async function starts(): Promise<void> {
  const measure = "start to first answered request";
  const warm = Array.from({ length: 20 }, async () => {
    const server = new ApiServer({ clock: realClock() });
    const caller = inProcess(server);
    await caller.ask("GET", "/api/v1/namespaces/default");
    server.close();
  });
  await Promise.all(warm);
  const single = await best(undefined, 20, async () => {
    await inProcess(new ApiServer()).ask("GET", "/api/v1/namespaces/default");
  });
  rows.push({ measure, server: "embedded, memory, in process", value: single.ms, unit: "ms", cpuMs: single.cpuMs });
  for (const start of servers) {
    let fastest: Contestant | undefined;
    // The first start compiles: it is not counted.
    for (let round = 0; round <= rounds; round++) {
      await using contestant = await start();
      if (round > 0 && (!fastest || contestant.startMs < fastest.startMs)) fastest = contestant;
    }
    const { name, startMs, startCpuMs } = fastest!;
    rows.push({ measure, server: name, value: startMs, unit: "ms", cpuMs: startCpuMs });
  }
}

async function creates(ways: typeof here): Promise<void> {
  for (const { name, caller } of ways) await namespace(caller, spaceOf(name));
  for (const [clients, count] of [
    [1, 300],
    [16, 1500],
  ] as const) {
    const fastest = new Map<string, Measured>();
    for (let round = 0; round <= rounds; round++) {
      for (const { name, caller, contestant } of ways) {
        const prefix = `c${clients}-${round}`;
        const once = await measured(contestant, () => create(caller, spaceOf(name), prefix, count, clients));
        // The first round warms up.
        if (round > 0) fastest.set(name, faster(fastest.get(name), once));
      }
    }
    const measure = `creates with ${clients} client${clients > 1 ? "s" : ""}, ${count}`;
    for (const [server, { ms, cpuMs }] of fastest) {
      rows.push({ measure, server, value: (count / ms) * 1000, unit: "/s", cpuMs, isRate: true });
    }
  }
}

/** Fills every server with objects, and says what one costs. */
async function storing(contestants: readonly Contestant[]): Promise<void> {
  const found: Row[] = [];
  for (const contestant of contestants) {
    const caller = overTls(contestant, "HTTP/1.1");
    await namespace(caller, "many");
    const before = { held: await contestant.held(), resident: contestant.resident(), onDisk: contestant.onDisk() };
    await create(caller, "many", "m", objects, 16);
    const held = (await contestant.held()) - before.held;
    const grown = { resident: contestant.resident() - before.resident, onDisk: contestant.onDisk() - before.onDisk };
    await caller.close();
    const server = contestant.name;
    found.push({ measure: "memory held per object, after a collection", server, value: held / objects, unit: "bytes" });
    if (grown.onDisk > 0) {
      found.push({ measure: "file growth per object", server, value: grown.onDisk / objects, unit: "bytes" });
    }
    found.push({
      measure: "resident memory at the end, all processes",
      server,
      value: contestant.resident() / 2 ** 20,
      unit: "MiB",
    });
  }
  rows.push(...found.sort((a, b) => a.measure.localeCompare(b.measure)));
  for (const { caller } of here) {
    await namespace(caller, "many");
    await create(caller, "many", "m", objects, 16);
  }
}

async function lists(ways: typeof here): Promise<void> {
  const each = async (measure: string, work: (caller: Caller) => Promise<unknown>) => {
    const fastest = new Map<string, Measured>();
    for (let round = 0; round <= rounds; round++) {
      for (const { name, caller, contestant } of ways) {
        const once = await measured(contestant, () => work(caller));
        if (round > 0) fastest.set(name, faster(fastest.get(name), once));
      }
    }
    for (const [server, { ms, cpuMs }] of fastest) rows.push({ measure, server, value: ms, unit: "ms", cpuMs });
  };
  await each(`a list of ${objects} objects`, async (caller) => {
    const text = await list(caller, "many");
    if (!text.includes(`"m-${objects - 1}"`)) throw new Error("the list is not whole");
  });
  await each(`a list of ${objects} objects, in pages of 500`, async (caller) => {
    const pages = await listPages(caller, "many", 500);
    if (pages !== Math.ceil(objects / 500)) throw new Error(`${pages} pages`);
  });
}

async function fanOuts(contestants: readonly Contestant[]): Promise<void> {
  const changes = 20;
  for (const contestant of contestants) {
    const caller = overTls(contestant, "HTTP/1.1");
    const { median, cpuMs } = await fanOut(contestant, caller, watchers, changes);
    await caller.close();
    const measure = `a change sent to ${watchers} watchers (median of ${changes}; CPU of all)`;
    rows.push({ measure, server: contestant.name, value: median, unit: "ms", cpuMs });
  }
}

async function best(
  contestant: Contestant | undefined,
  times: number,
  work: () => Promise<unknown>,
): Promise<Measured> {
  let fastest: Measured | undefined;
  for (let i = 0; i < times; i++) fastest = faster(fastest, await measured(contestant, work));
  return fastest!;
}

/** The least of each, for they are disturbed independently. */
function faster(one: Measured | undefined, other: Measured): Measured {
  if (!one) return other;
  return { ms: Math.min(one.ms, other.ms), cpuMs: Math.min(one.cpuMs, other.cpuMs) };
}

/** A namespace for each way to write, so that names do not meet. */
function spaceOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
