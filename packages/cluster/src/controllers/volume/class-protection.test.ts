import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { PersistentVolume, VolumeAttributesClass } from "@konverge/kinds";
import { startCluster } from "../../start-cluster.ts";

test("a terminating VolumeAttributesClass is deleted with the last volume that uses it", async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock });
  const { client } = cluster;
  await client.create(VolumeAttributesClass, {
    metadata: { name: "gold" },
    driverName: "d.example.com",
    parameters: { iops: "9" },
  } as never);
  await client.create(PersistentVolume, {
    metadata: { name: "v" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      volumeAttributesClassName: "gold",
      csi: { driver: "d.example.com", volumeHandle: "v" },
    },
  } as never);
  await clock.advance(1_000);
  await client.delete(VolumeAttributesClass, "gold");
  await clock.advance(5_000);
  assert.equal((await client.list(VolumeAttributesClass)).items.length, 1);
  await client.delete(PersistentVolume, "v");
  await clock.advance(5_000);
  assert.deepEqual((await client.list(VolumeAttributesClass)).items, []);
});
