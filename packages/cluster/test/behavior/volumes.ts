import assert from "node:assert/strict";
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@konverge/kinds";
import { assertEvent, type Behavior, find, type Stage } from "./stage.ts";

const claim = ({ client, namespace }: Stage, storage: string, more: object = {}) =>
  client.create(PersistentVolumeClaim, {
    metadata: { name: "data", namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more },
  });

const volume = ({ client, namespace }: Stage, name: string, storage: string, more: object = {}) =>
  client.create(PersistentVolume, {
    metadata: { name: `${namespace}-${name}` },
    spec: {
      capacity: { storage },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: "/tmp/x" },
      storageClassName: namespace,
      persistentVolumeReclaimPolicy: "Retain",
      ...more,
    },
  });

const getClaim = ({ client, namespace }: Stage) => client.get(PersistentVolumeClaim, `${namespace}/data`);
const getVolume = (stage: Stage, name: string) => find(stage, PersistentVolume, `${stage.namespace}-${name}`);

export const volumes: Record<string, Behavior> = {
  "a claim is bound to the smallest volume that will do, and the volume is released with it": async (stage) => {
    const { client, namespace } = stage;
    for (const [name, size] of [
      ["small", "1Gi"],
      ["large", "10Gi"],
      ["medium", "5Gi"],
    ] as const)
      await volume(stage, name, size);
    await stage.until(
      "the volumes are available",
      async () => (await getVolume(stage, "medium"))?.status?.phase === "Available",
    );
    await claim(stage, "2Gi", { storageClassName: namespace });
    await stage.until("the claim is bound", async () => (await getClaim(stage)).status?.phase === "Bound");
    const bound = await getClaim(stage);
    assert.equal(bound.spec?.volumeName, `${namespace}-medium`);
    assert.deepEqual(bound.status?.capacity, { storage: "5Gi" });
    assert.equal(bound.metadata.annotations?.["pv.kubernetes.io/bind-completed"], "yes");
    assert.equal(bound.metadata.annotations?.["pv.kubernetes.io/bound-by-controller"], "yes");
    assert.ok(bound.metadata.finalizers?.includes("kubernetes.io/pvc-protection"));
    await stage.until("the volume says so", async () => (await getVolume(stage, "medium"))?.status?.phase === "Bound");
    assert.equal((await getVolume(stage, "medium"))?.spec?.claimRef?.uid, bound.metadata.uid);
    await client.delete(PersistentVolumeClaim, `${namespace}/data`);
    await stage.until(
      "the volume is released",
      async () => (await getVolume(stage, "medium"))?.status?.phase === "Released",
    );
  },

  "a volume that is deleted while it is bound goes when its claim is deleted": async (stage) => {
    const { client, namespace } = stage;
    await volume(stage, "only", "1Gi");
    await claim(stage, "1Gi", { storageClassName: namespace });
    await stage.until("the claim is bound", async () => (await getClaim(stage)).status?.phase === "Bound");
    await client.delete(PersistentVolume, `${namespace}-only`);
    await stage.quiet();
    const terminating = await getVolume(stage, "only");
    assert.deepEqual(terminating?.metadata.finalizers, ["kubernetes.io/pv-protection"]);
    assert.equal(terminating?.status?.phase, "Bound");
    await client.delete(PersistentVolumeClaim, `${namespace}/data`);
    await stage.until("the volume is gone", async () => !(await getVolume(stage, "only")));
  },

  "a claim without a volume waits and says why": async (stage) => {
    await claim(stage, "1Gi", { storageClassName: "" });
    await assertEvent(
      stage,
      "PersistentVolumeClaim",
      "data",
      /^Normal FailedBinding no persistent volumes available for this claim and no storage class is set$/,
    );
    assert.equal((await getClaim(stage)).status?.phase, "Pending");
  },

  "a claim whose class waits for a consumer waits, and one whose class has a driver asks for it": async (stage) => {
    const { client, namespace } = stage;
    const provisioner = "example.com/disks";
    const metadata = { name: `${namespace}-late` };
    await client.create(StorageClass, { metadata, provisioner, volumeBindingMode: "WaitForFirstConsumer" });
    await client.create(StorageClass, { metadata: { name: `${namespace}-now` }, provisioner });
    await claim(stage, "1Gi", { storageClassName: `${namespace}-late` });
    await assertEvent(
      stage,
      "PersistentVolumeClaim",
      "data",
      /^Normal WaitForFirstConsumer waiting for first consumer to be created before binding$/,
    );
    await client.delete(PersistentVolumeClaim, `${namespace}/data`);
    await stage.until(
      "the claim is gone",
      async () => !(await find(stage, PersistentVolumeClaim, `${namespace}/data`)),
    );
    await claim(stage, "1Gi", { storageClassName: `${namespace}-now` });
    await stage.until("the driver is asked", async () => {
      return (await getClaim(stage)).metadata.annotations?.["volume.kubernetes.io/storage-provisioner"] === provisioner;
    });
    await assertEvent(
      stage,
      "PersistentVolumeClaim",
      "data",
      /^Normal ExternalProvisioning Waiting for a volume to be created either by the external provisioner 'example.com\/disks'/,
    );
  },
};
