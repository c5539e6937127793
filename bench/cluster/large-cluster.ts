// How long it takes until many pods run on many nodes, and how much memory that needs.
//   node bench/cluster/large-cluster.ts [nodes] [pods]
import { plainNodes, startCluster } from "@konverge/cluster";
import { realClock, sleep } from "@konverge/core";
import { Pod } from "@konverge/kinds";

const [nodes = 1000, pods = 20_000] = process.argv.slice(2).map(Number);
const clock = realClock();
const begun = clock.monotonic();
const seconds = () => ((clock.monotonic() - begun) / 1000).toFixed(1);

await using cluster = await startCluster({ clock, nodes: plainNodes(nodes) });
const { client, kubelet } = cluster;
while (kubelet.nodeNames().length < nodes) await sleep(clock, 20);
console.log(`${nodes} nodes are there after ${seconds()} s`);

const requests = { cpu: "100m", memory: "64Mi" };
const create = (i: number) =>
  client.create(Pod, {
    metadata: { name: `pod-${i}`, namespace: "default", labels: { app: `app-${i % 100}` } },
    spec: { containers: [{ name: "main", image: "app", resources: { requests } }] },
  });
for (let i = 0; i < pods; i += 50) {
  await Promise.all(Array.from({ length: Math.min(50, pods - i) }, (_, j) => create(i + j)));
}
console.log(`${pods} pods are created after ${seconds()} s`);

const running = () => {
  let count = 0;
  for (const { pod } of kubelet.workers()) if (pod.status?.phase === "Running") count++;
  return count;
};
for (let last = -1, now = running(); now < pods; last = now, now = running()) {
  if (now !== last) console.log(`  ${now} run after ${seconds()} s`);
  await sleep(clock, 1000);
}
const { rss, heapUsed } = process.memoryUsage();
const mib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;
console.log(`${pods} pods run on ${nodes} nodes after ${seconds()} s; resident ${mib(rss)}, heap ${mib(heapUsed)}`);
