import { isNotFound, keyOf, parseQuantity, type QuantityValue } from "@konverge/core";
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, VolumeAttachment } from "@konverge/kinds";
import { ExternalError, type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ControlPlaneComponent, controllersComponent } from "../../parts/part.ts";
import { isTerminal } from "../workloads/pod-state.ts";
import { writeStatus } from "../workloads/status.ts";
import { claimKeysOf } from "./attachable.ts";
import {
  claimReference,
  classOf,
  PROVISIONED_BY,
  PROVISIONER,
  requested,
  SELECTED_NODE,
  SIMULATED,
} from "./binding.ts";
import { claimsController, NAME } from "./claims-controller.ts";

/** Keeps the phase of volumes, and gets rid of those that are no longer claimed. */
function volumesController() {
  return builtInController(PersistentVolume, {
    name: `${NAME}: volumes`,
    watches: [
      watchKind<PersistentVolumeClaim, PersistentVolume>(PersistentVolumeClaim, {
        to: ({ spec }) => (spec?.volumeName ? [spec.volumeName] : []),
      }),
      watchKind<VolumeAttachment, PersistentVolume>(VolumeAttachment, {
        indexes: { volume: attachedVolume },
        to: attachedVolume,
      }),
    ],
    async reconcile(volume, context) {
      const { cache, client } = context;
      const { claimRef } = volume.spec ?? {};
      const setPhase = (phase: "Available" | "Released") =>
        writeStatus(context, PersistentVolume, volume, { ...volume.status, phase });
      if (!claimRef?.uid) {
        if (volume.status?.phase !== "Available") await setPhase("Available");
        return undefined;
      }
      const key = `${claimRef.namespace}/${claimRef.name}`;
      const claim = cache.get(PersistentVolumeClaim, key) ?? (await readClaim(context, key));
      if (claim?.metadata.uid === claimRef.uid) return undefined;
      if (volume.status?.phase !== "Released") await setPhase("Released");
      const isOurs = volume.metadata.annotations?.[PROVISIONED_BY] === SIMULATED;
      // As its driver does, which cannot delete what a node has.
      const isAttached = cache.find(VolumeAttachment, "volume", keyOf(volume)).length > 0;
      if (volume.spec?.persistentVolumeReclaimPolicy === "Delete" && isOurs && !isAttached)
        await client.delete(PersistentVolume, keyOf(volume));
      return undefined;
    },
  });
}

const attachedVolume = ({ spec }: VolumeAttachment) => [spec.source.persistentVolumeName ?? ""];

async function readClaim({ client }: ReconcileContext, key: string): Promise<PersistentVolumeClaim | undefined> {
  return client.get(PersistentVolumeClaim, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** Plays the driver of the cluster's own class: makes volumes, and makes them larger. */
function simulatedProvisioner() {
  return builtInController(PersistentVolumeClaim, {
    name: "simulated-provisioner",
    watches: [
      // A class may go and come back while a claim waits for its volume.
      watchKind<StorageClass, PersistentVolumeClaim>(StorageClass, { references: (claim) => [classOf(claim)] }),
      watchKind<PersistentVolume, PersistentVolumeClaim>(PersistentVolume, {
        to: ({ spec }) => (spec?.claimRef ? [`${spec.claimRef.namespace}/${spec.claimRef.name}`] : []),
      }),
      watchKind<Node, PersistentVolumeClaim>(Node, { to: () => [] }),
    ],
    async reconcile(claim, context) {
      const storageClass = context.cache.get(StorageClass, classOf(claim));
      if (storageClass?.provisioner !== SIMULATED) return undefined;
      if (claim.spec?.volumeName) await expand(context, claim, storageClass);
      else if (claim.metadata.annotations?.[PROVISIONER] === SIMULATED) await provision(context, claim, storageClass);
      return undefined;
    },
  });
}

async function provision(
  { client, cache, events }: ReconcileContext,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): Promise<void> {
  const name = `pvc-${claim.metadata.uid}`;
  if (cache.get(PersistentVolume, name)) return;
  const topology = topologyFor(storageClass, cache.get(Node, claim.metadata.annotations?.[SELECTED_NODE] ?? ""));
  events.normal("Provisioning", `External provisioner is provisioning volume for claim "${keyOf(claim)}"`);
  await client.create(PersistentVolume, {
    metadata: { name, annotations: { [PROVISIONED_BY]: SIMULATED } },
    spec: {
      capacity: { storage: requested(claim) },
      accessModes: claim.spec?.accessModes ?? ["ReadWriteOnce"],
      ...(claim.spec?.volumeMode && { volumeMode: claim.spec.volumeMode }),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      claimRef: claimReference(claim),
      ...(storageClass.mountOptions && { mountOptions: storageClass.mountOptions }),
      ...(topology && { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: topology }] } } }),
      csi: { driver: SIMULATED, volumeHandle: name },
    },
  });
  events.normal("ProvisioningSucceeded", `Successfully provisioned volume ${name}`);
}

/**
 * From where a volume can be reached: from one of the topologies of its class, that of the node that was chosen for it if there
 * is one. Volumes of a class without topologies can be reached from everywhere.
 */
function topologyFor({ allowedTopologies = [] }: StorageClass, node: Node | undefined) {
  const valueOn = (key: string) => node?.metadata.labels?.[key] ?? "";
  const isOf = ({ matchLabelExpressions = [] }: (typeof allowedTopologies)[number]) =>
    !node || matchLabelExpressions.every(({ key, values }) => values.includes(valueOn(key)));
  const chosen = allowedTopologies.find(isOf);
  return chosen?.matchLabelExpressions?.map(({ key, values }) => ({
    key,
    operator: "In" as const,
    values: node ? [valueOn(key)] : [values[0] ?? ""],
  }));
}

async function expand(
  context: ReconcileContext,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): Promise<void> {
  const { client, cache, events } = context;
  const volume = cache.get(PersistentVolume, claim.spec!.volumeName!);
  if (!storageClass.allowVolumeExpansion || !volume || claim.status?.phase !== "Bound") return;
  const storage = requested(claim);
  const isLarger = (than: QuantityValue | undefined) => parseQuantity(storage).cmp(parseQuantity(than ?? "0")) > 0;
  if (isLarger(volume.spec?.capacity?.["storage"])) {
    await client.patch(PersistentVolume, keyOf(volume), { merge: { spec: { capacity: { storage } } } });
  }
  if (!isLarger(claim.status.capacity?.["storage"])) return;
  await writeStatus(context, PersistentVolumeClaim, claim, {
    ...claim.status,
    capacity: { ...claim.status.capacity, storage },
  });
  events.normal("VolumeResizeSuccessful", "Resize volume succeeded");
}

/** Says of a claim that wants to be larger that its driver has to see to it. */
function expansion() {
  const larger = (than: QuantityValue | undefined, claim: PersistentVolumeClaim) =>
    parseQuantity(requested(claim)).cmp(parseQuantity(than ?? "0")) > 0;
  return builtInController(PersistentVolumeClaim, {
    name: "volume_expand",
    when: ({ object, before }) => before !== undefined && larger(requested(before), object),
    reconcile(claim, { events }) {
      const isWaiting = claim.status?.phase === "Bound" && larger(claim.status.capacity?.["storage"], claim);
      if (isWaiting) events.normal("ExternalExpanding", "waiting for an external controller to expand this PVC");
      return undefined;
    },
  });
}

/** Keeps a claim while a pod uses it. */
function claimProtection() {
  return builtInController(PersistentVolumeClaim, {
    name: "pvc-protection-controller",
    finalizer: "kubernetes.io/pvc-protection",
    watches: [watchKind<Pod, PersistentVolumeClaim>(Pod, { indexes: { claim: claimKeysOf }, to: claimKeysOf })],
    reconcile: () => undefined,
    async cleanup(claim, { cache }) {
      const users = cache.find(Pod, "claim", keyOf(claim)).filter((pod) => pod.spec?.nodeName && !isTerminal(pod));
      if (users.length > 0)
        throw new ExternalError("InUse", `${keyOf(claim)} is used by ${users[0]!.metadata.name}`, {
          requeueAfter: 300_000,
        });
      return undefined;
    },
  });
}

/** Keeps a volume while it is bound. */
function volumeProtection() {
  return builtInController(PersistentVolume, {
    name: "pv-protection-controller",
    finalizer: "kubernetes.io/pv-protection",
    reconcile: () => undefined,
    async cleanup(volume) {
      if (volume.status?.phase === "Bound")
        throw new ExternalError("InUse", `${keyOf(volume)} is bound`, { requeueAfter: 300_000 });
      return undefined;
    },
  });
}

/** Binds claims and volumes, and keeps both while they are in use. */
export const volumes = controllersComponent(
  "persistent-volume-binder",
  [PersistentVolumeClaim, PersistentVolume],
  () => [claimsController(), volumesController(), expansion(), claimProtection(), volumeProtection()],
);

/** Makes volumes for claims of the cluster's own class. */
export const provisioner: ControlPlaneComponent = controllersComponent(
  "simulated-provisioner",
  [PersistentVolumeClaim],
  () => [simulatedProvisioner()],
  {
    fieldManager: "csi-provisioner",
  },
);

/** Attaches the volumes of the cluster's own class, for which nothing has to be done. */
export const attacher: ControlPlaneComponent = controllersComponent(
  "simulated-attacher",
  [VolumeAttachment],
  () => [
    builtInController(VolumeAttachment, {
      name: "simulated-attacher",
      when: ({ object }) => object.spec.attacher === SIMULATED,
      async reconcile(attachment, context) {
        if (attachment.spec.attacher === SIMULATED && !attachment.metadata.deletionTimestamp)
          await writeStatus(context, VolumeAttachment, attachment, { ...attachment.status, attached: true });
        return undefined;
      },
    }),
  ],
  { fieldManager: "csi-attacher" },
);

/** The class of claims that name none, there from the start. */
export const defaultStorageClass: ControlPlaneComponent = {
  name: "default-storage-class",
  startsWith: "cluster",
  async start({ client }) {
    const { items } = await client.list(StorageClass);
    if (items.length === 0) {
      await client.create(StorageClass, {
        metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
        provisioner: SIMULATED,
        reclaimPolicy: "Delete",
        volumeBindingMode: "Immediate",
        allowVolumeExpansion: true,
      });
    }
    return { stop: async () => {} };
  },
};
