// What a fresh cluster costs a test: a hundred of them, each with a pod that runs.
//   node bench/cluster/fresh-clusters.ts [count]
import { startCluster } from "@konverge/cluster";
import { VirtualClock } from "@konverge/core";
import { Pod } from "@konverge/kinds";

const [count = 100] = process.argv.slice(2).map(Number);

async function during<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  promise.finally(() => {
    isSettled = true;
  });
  while (!isSettled) await clock.step();
  return promise;
}

const begun = performance.now();
let started = 0;
for (let i = 0; i < count; i++) {
  const clock = new VirtualClock({ seed: i });
  const before = performance.now();
  const cluster = await during(clock, startCluster({ clock }));
  started += performance.now() - before;
  const pod = {
    metadata: { name: "web", namespace: "default" },
    spec: { containers: [{ name: "main", image: "app" }] },
  };
  await during(clock, cluster.client.create(Pod, pod));
  for (;;) {
    const { status } = await during(clock, cluster.client.get(Pod, "default/web"));
    if (status?.phase === "Running") break;
    await clock.advance(10);
  }
  await during(clock, cluster.stop());
}
const total = performance.now() - begun;
console.log(
  `${count} clusters: ${(started / count).toFixed(1)} ms to start one, ${(total / count).toFixed(1)} ms until its pod ran`,
);
