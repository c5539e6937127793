// What a fresh cluster costs a test: a hundred of them, one after the other, each with a Deployment that becomes ready.
//   node bench/cluster/fresh-clusters.ts [count]
import { type Cluster, startCluster } from "@konverge/cluster";
import { VirtualClock } from "@konverge/core";
import { Deployment } from "@konverge/kinds";
import { table, writeResult } from "../harness/results.ts";

const [count = 100] = process.argv.slice(2).map(Number);
const labels = { app: "web" };
const web = {
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "app" }] } },
  },
};

async function during<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  while (!isSettled) await clock.step();
  return promise;
}

async function untilReady({ client }: Cluster, clock: VirtualClock): Promise<void> {
  for (;;) {
    const { status } = await during(clock, client.get(Deployment, "default/web"));
    if (status?.readyReplicas === 2) return;
    await clock.advance(10);
  }
}

const spent = { start: 0, ready: 0, settled: 0, stop: 0 };
let first = 0;
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
for (let i = 0; i < count; i++) {
  const clock = new VirtualClock({ seed: i });
  const times = [cpu()];
  const cluster = await during(clock, startCluster({ clock }));
  times.push(cpu());
  await during(clock, cluster.client.create(Deployment, web));
  await untilReady(cluster, clock);
  times.push(cpu());
  await cluster.settled();
  times.push(cpu());
  await during(clock, cluster.stop());
  times.push(cpu());
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = times;
  if (i === 0) first = e - a;
  spent.start += b - a;
  spent.ready += c - b;
  spent.settled += d - c;
  spent.stop += e - d;
}
const each = (ms: number) => (ms / count).toFixed(1);
const total = spent.start + spent.ready + spent.settled + spent.stop;
writeResult(
  "fresh-clusters",
  `${count} fresh clusters`,
  `Each cluster starts, runs a Deployment with two pods until they are ready and then until it is idle, and stops, on virtual time,
all in one process. CPU milliseconds per cluster; the first one (${first.toFixed(0)} ms) also warms up the process.

${table(["start", "Deployment ready", "idle", "stop", "total"], [[spent.start, spent.ready, spent.settled, spent.stop, total].map(each)])}`,
);
