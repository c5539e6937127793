import assert from "node:assert/strict";
import { test } from "node:test";
import { startCluster } from "@konverge/cluster";
import { VirtualClock } from "@konverge/core";
import { ConfigMap, Pod } from "@konverge/kinds";

const first = {
  metadata: { name: "first", namespace: "default" },
  spec: { containers: [{ name: "a", image: "app" }] },
};

for (const [time, clock] of [
  ["real", () => undefined],
  ["virtual", () => new VirtualClock()],
] as const) {
  test(`the first thing that a user does may be to create a pod: ${time} time`, async () => {
    const own = clock();
    const cluster = await startCluster(own ? { clock: own } : {});
    try {
      const pod = await cluster.client.create(Pod, first as never);
      assert.equal(pod.spec?.serviceAccountName, "default");
      const { metadata } = await cluster.client.get(ConfigMap, "default/kube-root-ca.crt");
      assert.match(metadata.managedFields?.[0]?.manager ?? "", /^kube-controller-manager$/);
    } finally {
      const stopped = cluster.stop();
      await own?.advance(10_000);
      await stopped;
    }
  });
}

test("a cluster that takes up an earlier state has its account and certificate once", async () => {
  await using earlier = await startCluster();
  await using later = await startCluster({ server: { state: earlier.snapshot() } });
  const { items } = await later.client.list(ConfigMap, { namespace: "default" });
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["kube-root-ca.crt"],
  );
  await later.client.create(Pod, first as never);
});
