import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { ReplicaSet, ResourceQuota } from "@konverge/kinds";
import { startCluster } from "../start-cluster.ts";

test("a set that a quota keeps from its pods says so once, and no longer when it asks for less", async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock });
  const { client } = cluster;
  await client.create(ResourceQuota, {
    metadata: { name: "few", namespace: "default" },
    spec: { hard: { pods: "1" } },
  } as never);
  await clock.advance(1_000);
  const labels = { app: "a" };
  await client.create(ReplicaSet, {
    metadata: { name: "a", namespace: "default" },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx" }] } },
    },
  } as never);
  await clock.advance(5_000);
  const failing = await client.get(ReplicaSet, "default/a");
  assert.equal(failing.status?.conditions?.[0]?.reason, "FailedCreate");
  await clock.advance(60_000);
  const later = await client.get(ReplicaSet, "default/a");
  assert.equal(later.metadata.resourceVersion, failing.metadata.resourceVersion);
  await client.patch(ReplicaSet, "default/a", { merge: { spec: { replicas: 1 } } });
  await clock.advance(5_000);
  assert.equal((await client.get(ReplicaSet, "default/a")).status?.conditions, undefined);
});
