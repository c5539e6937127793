// What a day of virtual time costs: an idle cluster with nodes and pods, and one with CronJobs, back-offs and TTLs.
//   node bench/cluster/virtual-day.ts
import { createHash } from "node:crypto";
import { type Cluster, startCluster } from "@konverge/cluster";
import { VirtualClock } from "@konverge/core";
import { CronJob, Event, Job, Pod } from "@konverge/kinds";
import { table, writeResult } from "../harness/results.ts";

const DAY = 86_400_000;

async function during<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  while (!isSettled) await clock.step();
  return promise;
}

/** A day of a cluster's life; what it cost and the log of all that was told. */
async function day(seed: number, prepare: (cluster: Cluster, clock: VirtualClock) => Promise<unknown>) {
  const clock = new VirtualClock({ seed, shuffle: true });
  const cluster = await during(clock, startCluster({ clock }));
  await prepare(cluster, clock);
  await clock.advance(60_000);
  const { revision } = cluster.server.store;
  const begun = performance.now();
  const before = process.cpuUsage();
  await clock.advance(DAY);
  const { user, system } = process.cpuUsage(before);
  const changes = cluster.server.store.revision - revision;
  const seconds = (performance.now() - begun) / 1000;
  const { items } = await during(clock, cluster.client.list(Event));
  const told = items.map(
    ({ metadata, lastTimestamp, count, reason, message }) =>
      `${lastTimestamp} ${metadata.name} ${count} ${reason} ${message}`,
  );
  const jobs = (await during(clock, cluster.client.list(Job))).items.length;
  await during(clock, cluster.stop());
  const log = createHash("sha256").update(told.join("\n")).digest("hex").slice(0, 12);
  return { seconds, cpu: (user + system) / 1e6, log, events: told.length, jobs, changes };
}

const containers = [{ name: "main", image: "app" }];

async function idle({ client }: Cluster, clock: VirtualClock): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await during(
      clock,
      client.create(Pod, { metadata: { name: `web-${i}`, namespace: "default" }, spec: { containers } }),
    );
  }
}

async function busy({ client }: Cluster, clock: VirtualClock): Promise<void> {
  const job = (annotations: Record<string, string>, more: object = {}) => ({
    spec: {
      template: { metadata: { annotations }, spec: { restartPolicy: "Never" as const, containers } },
      ...more,
    },
  });
  const cronJob = (name: string, schedule: string, jobTemplate: object) =>
    during(
      clock,
      client.create(CronJob, { metadata: { name, namespace: "default" }, spec: { schedule, jobTemplate } as never }),
    );
  await cronJob("often", "*/30 * * * *", job({}, { ttlSecondsAfterFinished: 600 }));
  await cronJob("failing", "0 * * * *", job({ "sim.konverge.dev/exit-code": "1" }, { backoffLimit: 2 }));
  await cronJob("nightly", "30 3 * * *", job({ "sim.konverge.dev/run-duration": "20m" }));
  const annotations = { "sim.konverge.dev/crash-after": "10m" };
  const metadata = { name: "crashing", namespace: "default", annotations };
  await during(clock, client.create(Pod, { metadata, spec: { containers } }));
}

const rows: string[][] = [];
for (const [name, prepare] of [
  ["idle: three nodes, three pods", idle],
  ["CronJobs every 30 and 60 minutes, failing Jobs, TTLs, a crashing pod", busy],
] as const) {
  await day(6, prepare);
  const [first, second] = [await day(7, prepare), await day(7, prepare)];
  rows.push([
    name,
    second.seconds.toFixed(2),
    second.cpu.toFixed(2),
    String(second.changes),
    String(second.events),
    `${first.log} ${second.log}`,
  ]);
}
writeResult(
  "virtual-day",
  "A day of virtual time",
  `The third of three runs in one process; the log of events is that of two runs with the same seed.\n\n${table(["", "s", "CPU s", "changes", "events", "log of two runs"], rows)}`,
);
