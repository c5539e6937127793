// How long it takes until many pods run on many nodes, and what that costs: the embedded cluster on a port, and a real
// control plane with KWOK. The same program makes the pods, over HTTPS, and asks until all of them run.
//   node bench/cluster/large-cluster.ts [nodes] [pods]
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "@konverge/client";
import { openPort, plainNodes, startCluster } from "@konverge/cluster";
import { Node, Pod } from "@konverge/kinds";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { persist } from "../harness/persist.ts";
import { processesWith, usageOf } from "../harness/processes.ts";
import { mebibytes, table, writeResult } from "../harness/results.ts";

const [nodes = 1000, pods = 20_000] = process.argv.slice(2, 4).map(Number);
const CONCURRENCY = 50;

if (process.argv[4]) await serve(process.argv[4]);
else await compare();

/** The embedded cluster, in a process of its own. */
async function serve(kubeconfig: string): Promise<void> {
  const cluster = await startCluster({ nodes: plainNodes(nodes) });
  const port = await openPort(cluster.guard);
  writeFileSync(kubeconfig, port.kubeconfig());
  console.log("ready");
}

interface Outcome {
  name: string;
  nodesSeconds: number;
  createdSeconds: number;
  runningSeconds: number;
  cpuSeconds: number;
  peakBytes: number;
}

async function compare(): Promise<void> {
  const outcomes = [await embedded()];
  const plane = findControlPlane();
  if (plane.available) outcomes.push(await real());
  else console.log(`skipped: ${plane.why}`);
  const rows = outcomes.map((one) => [
    one.name,
    one.nodesSeconds.toFixed(1),
    one.createdSeconds.toFixed(1),
    one.runningSeconds.toFixed(1),
    one.cpuSeconds.toFixed(0),
    mebibytes(one.peakBytes),
  ]);
  const [first, second] = outcomes;
  if (first && second) {
    const ratio = (a: number, b: number) => (a / b).toFixed(2);
    rows.push([
      "embedded / real",
      "",
      ratio(first.createdSeconds, second.createdSeconds),
      ratio(first.runningSeconds, second.runningSeconds),
      ratio(first.cpuSeconds, second.cpuSeconds),
      ratio(first.peakBytes, second.peakBytes),
    ]);
  }
  const head = ["", "nodes ready s", "pods created s", "all run s", "CPU s", "peak MiB"];
  writeResult(
    "large-cluster",
    `${nodes} nodes, ${pods} pods`,
    `Time from the first pod on (${CONCURRENCY} are created at a time) until the last one runs; CPU and memory are those of all
processes of the control plane and the nodes together, without the program that makes the pods. The real control plane:
etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK, with client limits of 1,000 requests a second.

${table(head, rows)}`,
  );
}

async function embedded(): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-bench-"));
  const kubeconfig = join(folder, "kubeconfig");
  const begun = performance.now();
  const child = spawn(process.execPath, [import.meta.filename, String(nodes), String(pods), kubeconfig], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      child.once("exit", (code) => reject(new Error(`the embedded cluster ended with exit code ${code}`)));
    });
    return await play("embedded", kubeconfig, begun, () => [child.pid!]);
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
  return await play("real + KWOK", cluster.kubeconfig, begun, () => processesWith(cluster.folder));
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
  let next = 0;
  const worker = async () => {
    while (next < pods) {
      const one = pod(next++);
      await persist(() => client.create(Pod, one));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const createdSeconds = since(from);
  console.log(`${name}: ${pods} pods are created after ${createdSeconds.toFixed(1)} s`);
  let arePending = true;
  while (arePending) {
    await persist(async () => {
      arePending = await somePending(client);
    });
    await sleep(500);
  }
  const runningSeconds = since(from);
  const { cpuSeconds, peakBytes } = usageOf(pids());
  console.log(`${name}: all pods run after ${runningSeconds.toFixed(1)} s, peak ${mebibytes(peakBytes)} MiB`);
  await client.close();
  return { name, nodesSeconds, createdSeconds, runningSeconds, cpuSeconds, peakBytes };
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
