// HTTP/1.1 against HTTP/2 to a real kube-apiserver, on the same pool the client uses: wall time, CPU of this process and
// CPU of the server, the least of several interleaved rounds. The choice is docs/decisions/009-http1-by-default.md.
//
//     node bench/client-http/run.ts
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type Dispatcher, Pool } from "undici";
import { findControlPlane, type RealCluster, startRealCluster } from "../../tools/real/index.ts";

const ROUNDS = 5;
const OBJECTS = 2000;

interface Measured {
  wall: number;
  client: number;
  server: number;
}

const plane = findControlPlane();
if (!plane.available) {
  console.log(`skipped: ${plane.why}`);
  process.exit(0);
}
await using cluster = await startRealCluster();
const serverPid = pidOf("kube-apiserver", cluster);
const protocols: Record<string, () => Pool> = {
  "HTTP/1.1": () => pool({ allowH2: false }),
  "HTTP/2, 1 connection": () => pool({ allowH2: true, connections: 1 }),
  "HTTP/2, 4 connections": () => pool({ allowH2: true, connections: 4 }),
};
{
  const filling = pool({ allowH2: false });
  await ask(filling, "POST", "/api/v1/namespaces", { metadata: { name: "bench" } });
  await parallel(20, OBJECTS, (i) =>
    ask(filling, "POST", "/api/v1/namespaces/bench/configmaps", {
      metadata: { name: `m${i}` },
      data: { pad: "0123456789abcdef".repeat(128) },
    }),
  );
  await filling.destroy();
}

const object = (i: number) => `/api/v1/namespaces/bench/configmaps/m${i % OBJECTS}`;
const tasks: Record<string, (pool: Pool) => Promise<unknown>> = {
  "a cold client: 50 reads at once": (pool) => parallel(50, 50, (i) => ask(pool, "GET", object(i))),
  "1000 reads, one after the other": (pool) => parallel(1, 1000, (i) => ask(pool, "GET", object(i))),
  "1000 patches, 10 at a time": (pool) =>
    parallel(10, 1000, (i) => ask(pool, "PATCH", object(i), { data: { n: String(process.hrtime.bigint()) } })),
  "3000 reads, 100 at a time": (pool) => parallel(100, 3000, (i) => ask(pool, "GET", object(i))),
  "3 lists of 2000 objects of 2 KB": (pool) =>
    parallel(1, 3, () => ask(pool, "GET", "/api/v1/namespaces/bench/configmaps")),
};

const best = new Map<string, Measured>();
for (let round = 0; round < ROUNDS; round++) {
  for (const [task, run] of Object.entries(tasks)) {
    for (const [protocol, open] of Object.entries(protocols)) {
      const connection = open();
      if (!task.includes("cold")) await ask(connection, "GET", "/version");
      const measured = await measure(() => run(connection));
      await connection.destroy();
      const key = `${task} | ${protocol}`;
      const before = best.get(key);
      best.set(key, before ? least(before, measured) : measured);
    }
  }
}
console.log("| task | protocol | wall ms | client CPU ms | server CPU ms |\n|---|---|---|---|---|");
for (const [key, { wall, client, server }] of best) {
  console.log(`| ${key} | ${wall.toFixed(0)} | ${client.toFixed(0)} | ${server.toFixed(0)} |`);
}

function pool(options: Pool.Options): Pool {
  const { ca, clientCert: cert, clientKey: key } = cluster;
  const tls = { ca, cert, key, preferH2: options.allowH2 ?? false };
  return new Pool(cluster.url, {
    bodyTimeout: 0,
    headersTimeout: 0,
    ...options,
    connect: { ...tls, allowH2: options.allowH2 },
  });
}

async function ask(pool: Pool, method: Dispatcher.HttpMethod, path: string, body?: object): Promise<unknown> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await pool.request({
    method,
    path,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": type } }),
  });
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${await response.body.text()}`);
  return response.body.json();
}

async function parallel(workers: number, total: number, run: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < total) await run(next++);
  };
  await Promise.all(Array.from({ length: workers }, work));
}

async function measure(run: () => Promise<unknown>): Promise<Measured> {
  const [wall, own, server] = [performance.now(), process.cpuUsage(), serverCpu()];
  await run();
  const { user, system } = process.cpuUsage(own);
  return { wall: performance.now() - wall, client: (user + system) / 1000, server: serverCpu() - server };
}

function least(a: Measured, b: Measured): Measured {
  return {
    wall: Math.min(a.wall, b.wall),
    client: Math.min(a.client, b.client),
    server: Math.min(a.server, b.server),
  };
}

/** Milliseconds of CPU the API server has used (Linux). */
function serverCpu(): number {
  const fields = readFileSync(`/proc/${serverPid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function pidOf(program: string, { url }: RealCluster): number {
  const port = new URL(url).port;
  for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    try {
      if (!readlinkSync(`/proc/${pid}/exe`).endsWith(`/${program}`)) continue;
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--secure-port=${port}`)) return Number(pid);
    } catch {}
  }
  throw new Error(`no ${program} runs on port ${port}`);
}
