// How long it takes until many pods run on many nodes, and what that costs: the embedded cluster on a port, and a real
// control plane with KWOK. The same program makes the pods, over HTTPS, and asks until all of them run, or until time is
// up: then it says how many do.
//   node bench/cluster/large-cluster.ts [nodes] [pods] [--only embedded|real] [--minutes 20]
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Client, connect } from "@konverge/client";
import { openPort, plainNodes, startCluster } from "@konverge/cluster";
import { Node, Pod } from "@konverge/kinds";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { persist } from "../harness/persist.ts";
import { processesWith, usageOf } from "../harness/processes.ts";
import { mebibytes, table, writeResult } from "../harness/results.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    minutes: { type: "string", default: "20" },
    serve: { type: "string" },
  },
});
const [nodes = 1000, pods = 20_000] = positionals.map(Number);
const title = `${nodes} nodes, ${pods} pods`;
const limit = Number(values.minutes) * 60_000;
const CONCURRENCY = 50;
const NAMES = { embedded: "embedded", real: "real + KWOK" };

if (values.serve) await serve(values.serve);
else await compare();

/** The embedded cluster, in a separate process. */
async function serve(kubeconfig: string): Promise<void> {
  const cluster = await startCluster({ nodes: plainNodes(nodes) });
  const port = await openPort(cluster.guard);
  writeFileSync(kubeconfig, port.kubeconfig());
  console.log("ready");
}

interface Outcome {
  name: string;
  nodesSeconds: number;
  /** Undefined: not all of them, in the time there was. */
  createdSeconds: number | undefined;
  runningSeconds: number | undefined;
  running: number;
  cpuSeconds: number;
  peakBytes: number;
}

async function compare(): Promise<void> {
  const rows = earlierRows();
  if (values.only !== "real") rows.set(NAMES.embedded, rowOf(await embedded()));
  const plane = findControlPlane();
  if (!plane.available) console.log(`skipped: ${plane.why}`);
  else if (values.only !== "embedded") rows.set(NAMES.real, rowOf(await real()));
  const head = [
    "",
    "nodes ready s",
    "pods created s",
    "all running s",
    "running",
    "CPU s",
    "CPU ms per running pod",
    "peak MiB",
  ];
  writeResult(
    "large-cluster",
    title,
    `Time from the first pod (${CONCURRENCY} are created at a time) until the last one runs, or "-" if it did not within ${values.minutes} minutes.
CPU and memory are the totals of all control plane and node processes, without the program that creates the pods. The real
control plane is etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK, with client limits of 1,000 requests
a second. The embedded cluster also writes the three events that a kubelet emits per pod; KWOK writes none.

${table(
  head,
  Object.values(NAMES).flatMap((name) => (rows.has(name) ? [rows.get(name)!] : [])),
)}`,
  );
}

/** What an earlier run of this size has found: the two need not be measured in one go. */
function earlierRows(): Map<string, string[]> {
  const file = join(import.meta.dirname, "..", "results", "large-cluster.md");
  const text = values.only && existsSync(file) ? readFileSync(file, "utf8") : "";
  const rows = new Map<string, string[]>();
  if (!text.startsWith(`# ${title}\n`)) return rows;
  for (const line of text.split("\n")) {
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (Object.values(NAMES).includes(cells[0] ?? "")) rows.set(cells[0]!, cells);
  }
  return rows;
}

function rowOf({
  name,
  nodesSeconds,
  createdSeconds,
  runningSeconds,
  running,
  cpuSeconds,
  peakBytes,
}: Outcome): string[] {
  const seconds = (value: number | undefined) => value?.toFixed(1) ?? "-";
  const each = ((1000 * cpuSeconds) / Math.max(1, running)).toFixed(1);
  return [
    name,
    seconds(nodesSeconds),
    seconds(createdSeconds),
    seconds(runningSeconds),
    String(running),
    cpuSeconds.toFixed(0),
    each,
    mebibytes(peakBytes),
  ];
}

async function embedded(): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-bench-"));
  const kubeconfig = join(folder, "kubeconfig");
  const begun = performance.now();
  const child = spawn(process.execPath, [import.meta.filename, String(nodes), "--serve", kubeconfig], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      child.once("exit", (code) => reject(new Error(`the embedded cluster ended with exit code ${code}`)));
    });
    return await play(NAMES.embedded, kubeconfig, begun, () => [child.pid!]);
  } finally {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  }
}

async function real(): Promise<Outcome> {
  const begun = performance.now();
  const kwok = { nodes, gpus: 0, cpu: "32", memory: "128Gi" };
  await using cluster = await startRealCluster({ controllers: true, scheduler: true, kwok });
  return await play(NAMES.real, cluster.kubeconfig, begun, () => processesWith(cluster.folder));
}

async function play(name: string, kubeconfig: string, begun: number, pids: () => number[]): Promise<Outcome> {
  const client = await connect({ kubeconfig });
  const since = (from: number) => (performance.now() - from) / 1000;
  let areReady = false;
  while (!areReady) {
    await persist(async () => {
      areReady = (await readyNodes(client)) >= nodes;
    });
    await sleep(200);
  }
  const nodesSeconds = since(begun);
  console.log(`${name}: ${nodes} nodes are ready after ${nodesSeconds.toFixed(1)} s`);
  const from = performance.now();
  const isTime = () => performance.now() - from < limit;
  let next = 0;
  const worker = async () => {
    while (next < pods && isTime()) {
      const one = pod(next++);
      await persist(() => client.create(Pod, one));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const createdSeconds = next === pods ? since(from) : undefined;
  console.log(`${name}: ${next} pods are created after ${since(from).toFixed(1)} s`);
  let arePending = true;
  while (arePending && isTime()) {
    await sleep(500);
    await persist(async () => {
      arePending = await somePending(client);
    });
  }
  const runningSeconds = arePending || next < pods ? undefined : since(from);
  const { cpuSeconds, peakBytes } = usageOf(pids());
  const running = runningSeconds === undefined ? await countRunning(client) : pods;
  console.log(`${name}: ${running} pods run after ${since(from).toFixed(1)} s, peak ${mebibytes(peakBytes)} MiB`);
  await client.close();
  return { name, nodesSeconds, createdSeconds, runningSeconds, running, cpuSeconds, peakBytes };
}

async function countRunning(client: Client): Promise<number> {
  let count = 0;
  const selection = { namespace: "default", fieldSelector: "status.phase=Running" };
  for await (const _ of client.each(Pod, selection)) count++;
  return count;
}

async function readyNodes(client: Client): Promise<number> {
  const { items } = await client.list(Node);
  const isReady = ({ status }: Node) =>
    status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
  return items.filter(isReady).length;
}

async function somePending(client: Client): Promise<boolean> {
  const { items } = await client.list(Pod, { namespace: "default", fieldSelector: "status.phase!=Running", limit: 1 });
  return items.length > 0;
}

function pod(i: number) {
  const resources = { requests: { cpu: "100m", memory: "64Mi" } };
  return {
    metadata: { name: `pod-${i}`, namespace: "default", labels: { app: `app-${i % 100}` } },
    spec: { containers: [{ name: "main", image: "app", resources }] },
  };
}
