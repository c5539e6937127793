// What a day of virtual time costs: an idle cluster with nodes and pods, and one with CronJobs, back-offs and TTLs.
//   node bench/cluster/virtual-day.ts
import { createHash } from "node:crypto";
import { type Cluster, startCluster } from "@konverge/cluster";
import { VirtualClock } from "@konverge/core";
import { CronJob, Pod } from "@konverge/kinds";
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

/** What is written of these is the log: every state of every object, down to uids and times. */
const LOGGED = ["/events", "/pods", "batch/jobs", "batch/cronjobs"];

/** Collects the states as they are written: the server itself forgets them after some minutes. */
function follow({ store }: Cluster["server"]): string[] {
  const log: string[] = [];
  for (const resource of LOGGED) {
    let revision = store.revision;
    store.onChange(resource, () => {
      for (const { entry, deleted } of store.collection(resource).changesAfter(revision) ?? []) {
        log.push(deleted ? `gone: ${entry.text}` : entry.text);
        revision = entry.revision;
      }
    });
  }
  return log;
}

/** A day of a cluster's life; what it cost and the log of it. */
async function day(seed: number, prepare: (cluster: Cluster, clock: VirtualClock) => Promise<unknown>) {
  const clock = new VirtualClock({ seed, shuffle: true });
  const cluster = await during(clock, startCluster({ clock }));
  await prepare(cluster, clock);
  await clock.advance(60_000);
  const { revision } = cluster.server.store;
  const log = follow(cluster.server);
  const begun = performance.now();
  const before = process.cpuUsage();
  await clock.advance(DAY);
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - begun) / 1000;
  const changes = cluster.server.store.revision - revision;
  await during(clock, cluster.stop());
  const digest = createHash("sha256").update(log.join("\n")).digest("hex").slice(0, 12);
  return { seconds, cpu: (user + system) / 1e6, changes, digest };
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

/** What makes Jobs and pods in a cluster. */
function maker({ client }: Cluster, clock: VirtualClock) {
  const job = (annotations: Record<string, string>, more: object = {}) => ({
    spec: {
      template: { metadata: { annotations }, spec: { restartPolicy: "Never" as const, containers } },
      ...more,
    },
  });
  return {
    job,
    cronJob: (name: string, schedule: string, jobTemplate: object) =>
      during(
        clock,
        client.create(CronJob, { metadata: { name, namespace: "default" }, spec: { schedule, jobTemplate } as never }),
      ),
    crashingPod: (after: string) => {
      const metadata = {
        name: "crashing",
        namespace: "default",
        annotations: { "sim.konverge.dev/crash-after": after },
      };
      return during(clock, client.create(Pod, { metadata, spec: { containers } }));
    },
  };
}

async function ordinary(cluster: Cluster, clock: VirtualClock): Promise<void> {
  const { job, cronJob, crashingPod } = maker(cluster, clock);
  await cronJob("hourly", "0 * * * *", job({}, { ttlSecondsAfterFinished: 600 }));
  await cronJob("failing", "30 3 * * *", job({ "sim.konverge.dev/exit-code": "1" }, { backoffLimit: 6 }));
  await crashingPod("1h");
}

async function busy(cluster: Cluster, clock: VirtualClock): Promise<void> {
  const { job, cronJob, crashingPod } = maker(cluster, clock);
  await cronJob("often", "*/30 * * * *", job({}, { ttlSecondsAfterFinished: 600 }));
  await cronJob("failing", "0 * * * *", job({ "sim.konverge.dev/exit-code": "1" }, { backoffLimit: 2 }));
  await cronJob("nightly", "30 3 * * *", job({ "sim.konverge.dev/run-duration": "20m" }));
  await crashingPod("10m");
}

const rows: string[][] = [];
for (const [name, prepare] of [
  [
    "busy: CronJobs every 30 and 60 minutes, the latter failing three times each, TTLs, a pod that crashes every 10 minutes",
    busy,
  ],
  [
    "ordinary: an hourly CronJob with a TTL, a nightly one that fails and backs off six times, a pod that crashes every hour",
    ordinary,
  ],
  ["idle: three nodes, three pods", idle],
] as const) {
  const first = await day(7, prepare);
  await day(6, prepare);
  const third = await day(7, prepare);
  rows.push([
    name,
    ...[first, third].flatMap(({ seconds, cpu }) => [seconds.toFixed(2), cpu.toFixed(2)]),
    String(third.changes),
    ((1e6 * third.cpu) / Math.max(1, third.changes)).toFixed(0),
    `${first.digest} ${third.digest}`,
  ]);
}
writeResult(
  "virtual-day",
  "A day of virtual time",
  `Three runs in one process; the first (cold code) and the third are shown. The log digest covers every stored state of every
Event, Pod, Job and CronJob; the first and the third run have the same seed and must have the same digest.

${table(["", "first s", "first CPU s", "third s", "third CPU s", "changes", "CPU µs per change", "log digests"], rows)}`,
);
