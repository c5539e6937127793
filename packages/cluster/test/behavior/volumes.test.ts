import assert from "node:assert/strict";
import { test } from "node:test";
import { PersistentVolume, PersistentVolumeClaim } from "@konverge/kinds";
import { during, playEmbedded, virtualStage } from "./stages.ts";
import { volumes } from "./volumes.ts";

playEmbedded(volumes);

test("the cluster's own class makes volumes, makes them larger and takes them away", async () => {
  const stage = await virtualStage();
  const { client, namespace } = stage;
  const key = `${namespace}/data`;
  await stage.pass(1000);
  await client.create(PersistentVolumeClaim, {
    metadata: { name: "data", namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  const get = () => client.get(PersistentVolumeClaim, key);
  await stage.until("the claim is bound", async () => (await get()).status?.phase === "Bound");
  const { uid } = (await get()).metadata;
  const volume = await client.get(PersistentVolume, `pvc-${uid}`);
  assert.equal(volume.spec?.storageClassName, "standard");
  assert.equal(volume.spec?.persistentVolumeReclaimPolicy, "Delete");
  await client.patch(PersistentVolumeClaim, key, { merge: { spec: { resources: { requests: { storage: "3Gi" } } } } });
  await stage.until("the claim is larger", async () => (await get()).status?.capacity?.["storage"] === "3Gi");
  assert.equal((await client.get(PersistentVolume, `pvc-${uid}`)).spec?.capacity?.["storage"], "3Gi");
  await client.delete(PersistentVolumeClaim, key);
  await stage.until("the volume is gone", async () => (await client.list(PersistentVolume)).items.length === 0);
  await during(stage.clock, stage.cluster.stop());
});
