import assert from "node:assert/strict";
import { keyOf } from "@konverge/core";
import { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, VolumeAttachment } from "@konverge/kinds";
import { makeNodes, placed } from "./placed.ts";
import { assertEvent, type Behavior, conditionOf, find, type Stage } from "./stage.ts";

const DRIVER = "disks.example.com";

const makeClaim = ({ client, namespace }: Stage, storage: string, name = "data") =>
  client.create(PersistentVolumeClaim, {
    metadata: { name, namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, storageClassName: namespace },
  });

const makeClass = ({ client, namespace }: Stage, more: object = {}) =>
  client.create(StorageClass, { metadata: { name: namespace }, provisioner: DRIVER, ...more });

async function makePod(stage: Stage, name = "app"): Promise<Pod> {
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  const { metadata, spec } = placed(stage, { spec: { volumes } });
  return stage.client.create(Pod, { metadata: { ...metadata, name, namespace: stage.namespace }, spec });
}

const claimOf = ({ client, namespace }: Stage) => client.get(PersistentVolumeClaim, `${namespace}/data`);
const podOf = ({ client, namespace }: Stage) => client.get(Pod, `${namespace}/app`);
const runs = (stage: Stage) =>
  stage.until("the pod runs", async () => {
    await drive(stage);
    return conditionOf(await podOf(stage), "Ready")?.split(" ")[0] === "True";
  });

/** A storage driver of a few lines: it makes the volume that a claim asks it for, makes it larger and attaches it. */
async function drive(stage: Stage): Promise<void> {
  const { client, namespace } = stage;
  for (const { metadata, spec, status } of (await client.list(VolumeAttachment)).items) {
    if (spec.attacher === DRIVER && !status?.attached)
      await client.patchStatus(VolumeAttachment, metadata.name, { merge: { status: { attached: true } } });
  }
  const claim = await find(stage, PersistentVolumeClaim, `${namespace}/data`);
  if (!claim) return;
  const { annotations = {}, uid, name } = claim.metadata;
  const storage = claim.spec!.resources!.requests!["storage"]!;
  if (!claim.spec?.volumeName) {
    if (annotations["volume.kubernetes.io/storage-provisioner"] !== DRIVER) return;
    if (await find(stage, PersistentVolume, `pvc-${uid}`)) return;
    await client.create(PersistentVolume, {
      metadata: { name: `pvc-${uid}`, annotations: { "pv.kubernetes.io/provisioned-by": DRIVER } },
      spec: {
        capacity: { storage },
        accessModes: ["ReadWriteOnce"],
        storageClassName: namespace,
        persistentVolumeReclaimPolicy: "Retain",
        claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid: uid! },
        csi: { driver: DRIVER, volumeHandle: uid! },
      },
    });
  } else if (claim.status?.phase === "Bound" && claim.status.capacity?.["storage"] !== storage) {
    await client.patch(PersistentVolume, claim.spec.volumeName, { merge: { spec: { capacity: { storage } } } });
    await client.patchStatus(PersistentVolumeClaim, keyOf(claim), { merge: { status: { capacity: { storage } } } });
  }
}

export const placedVolumes: Record<string, Behavior> = {
  "a claim that waits for its pod gets a volume made where the pod goes": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 2);
    await makeClass(stage, { volumeBindingMode: "WaitForFirstConsumer", allowVolumeExpansion: true });
    await makeClaim(stage, "1Gi");
    await stage.quiet();
    await drive(stage);
    assert.equal((await claimOf(stage)).status?.phase, "Pending");
    await makePod(stage);
    await stage.until("the pod has its place", async () => {
      await drive(stage);
      return (await podOf(stage)).spec?.nodeName !== undefined;
    });
    const claim = await claimOf(stage);
    assert.equal(claim.status?.phase, "Bound");
    const selected = claim.metadata.annotations?.["volume.kubernetes.io/selected-node"];
    assert.equal(selected, (await podOf(stage)).spec?.nodeName);
    await runs(stage);
    await client.patch(PersistentVolumeClaim, `${namespace}/data`, {
      merge: { spec: { resources: { requests: { storage: "2Gi" } } } },
    });
    await assertEvent(
      stage,
      "PersistentVolumeClaim",
      "data",
      /^Normal ExternalExpanding waiting for an external controller to expand this PVC$/,
    );
    await stage.until("it is larger", async () => {
      await drive(stage);
      return (await claimOf(stage)).status?.capacity?.["storage"] === "2Gi";
    });
  },

  "a claim that waits for its pod is bound to a volume of a node on which the pod can be": async (stage) => {
    const { client, namespace } = stage;
    const [, second] = await makeNodes(stage, 2);
    await makeClass(stage, { provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: "WaitForFirstConsumer" });
    const values = [second!];
    await client.create(PersistentVolume, {
      metadata: { name: `${namespace}-local` },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        storageClassName: namespace,
        persistentVolumeReclaimPolicy: "Retain",
        local: { path: "/mnt/disk" },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values }] }],
          },
        },
      },
    });
    await makeClaim(stage, "1Gi");
    await makePod(stage);
    await runs(stage);
    assert.equal((await podOf(stage)).spec?.nodeName, second);
    assert.equal((await claimOf(stage)).spec?.volumeName, `${namespace}-local`);
    await makeClaim(stage, "1Gi", "more");
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "more" } }];
    const { metadata, spec } = placed(stage, { spec: { volumes } });
    await client.create(Pod, { metadata: { ...metadata, name: "late", namespace }, spec });
    await assertEvent(
      stage,
      "Pod",
      "late",
      /^Warning FailedScheduling .*2 node\(s\) didn't find available persistent volumes to bind/,
    );
  },

  "a pod waits for a claim that is not there, then for it to be bound": async (stage) => {
    const { namespace } = stage;
    await makeNodes(stage, 1);
    await makeClass(stage);
    await makePod(stage);
    await assertEvent(
      stage,
      "Pod",
      "app",
      /^Warning FailedScheduling 0\/\d+ nodes are available: persistentvolumeclaim "data" not found\. /,
    );
    await makeClaim(stage, "1Gi");
    await assertEvent(
      stage,
      "Pod",
      "app",
      /^Warning FailedScheduling 0\/\d+ nodes are available: pod has unbound immediate PersistentVolumeClaims\. /,
    );
    await stage.until("the pod has its place", async () => {
      await drive(stage);
      return (await podOf(stage)).spec?.nodeName === `${namespace}-0`;
    });
    await runs(stage);
  },

  "a claim in use stays until its pod is gone": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    await makeClass(stage);
    await makeClaim(stage, "1Gi");
    await makePod(stage);
    await stage.until("the claim is bound", async () => {
      await drive(stage);
      return (await claimOf(stage)).status?.phase === "Bound";
    });
    await runs(stage);
    await client.delete(PersistentVolumeClaim, `${namespace}/data`);
    await stage.quiet();
    assert.ok((await claimOf(stage)).metadata.deletionTimestamp);
    await client.delete(Pod, `${namespace}/app`);
    await stage.until("the claim is gone", async () => {
      return !(await find(stage, PersistentVolumeClaim, `${namespace}/data`));
    });
    await stage.until("its volume is released", async () => {
      const { items } = await client.list(PersistentVolume);
      return items.find(({ spec }) => spec?.claimRef?.namespace === namespace)?.status?.phase === "Released";
    });
  },
};
