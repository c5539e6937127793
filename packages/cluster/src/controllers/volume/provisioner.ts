import type { Client } from "@konverge/client";
import { isAlreadyExists, keyOf, parseQuantity, type QuantityValue } from "@konverge/core";
import { CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from "@konverge/kinds";
import { type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ControlPlaneComponent, controllersComponent, type LocalVolumes } from "../../parts/part.ts";
import { isSimulated } from "../../parts/simulated-node.ts";
import { writeStatus } from "../workloads/status.ts";
import { claimReference, classOf, DRIVER, PROVISIONED_BY, PROVISIONER, requested, SELECTED_NODE } from "./binding.ts";

/** Plays the driver of the cluster's own class: makes volumes, and makes them larger. */
export function driver(localVolumes: LocalVolumes | undefined) {
  return builtInController(PersistentVolumeClaim, {
    name: "simulated-provisioner",
    watches: [
      // A class may be deleted and recreated while a claim waits for its volume.
      watchKind<StorageClass, PersistentVolumeClaim>(StorageClass, { references: (claim) => [classOf(claim)] }),
      watchKind<PersistentVolume, PersistentVolumeClaim>(PersistentVolume, {
        to: ({ spec }) => (spec?.claimRef ? [`${spec.claimRef.namespace}/${spec.claimRef.name}`] : []),
      }),
      watchKind<Node, PersistentVolumeClaim>(Node, { to: () => [] }),
    ],
    async reconcile(claim, context) {
      const storageClass = context.cache.get(StorageClass, classOf(claim));
      if (storageClass?.provisioner !== DRIVER) return undefined;
      if (claim.spec?.volumeName) await expand(context, claim, storageClass);
      else if (claim.metadata.annotations?.[PROVISIONER] === DRIVER)
        await provision(context, claim, storageClass, localVolumes);
      return undefined;
    },
  });
}

async function provision(
  { client, cache, events }: ReconcileContext,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  localVolumes: LocalVolumes | undefined,
): Promise<void> {
  const name = `pvc-${claim.metadata.uid}`;
  if (cache.get(PersistentVolume, name)) return;
  const selected = cache.get(Node, claim.metadata.annotations?.[SELECTED_NODE] ?? "") ?? onlyReal(cache.list(Node));
  events.normal("Provisioning", `External provisioner is provisioning volume for claim "${keyOf(claim)}"`);
  const isLocal = selected !== undefined && !isSimulated(selected);
  const source = isLocal
    ? await localSource(selected, claim, name, localVolumes)
    : simulatedSource(storageClass, selected, name);
  if (typeof source === "string") {
    const { name: className } = storageClass.metadata;
    events.warning("ProvisioningFailed", `failed to provision volume with StorageClass "${className}": ${source}`);
    return;
  }
  // Direct writes: volumes are cluster-scoped and outlive their claim; the classes belong to the cluster.
  await client.create(PersistentVolume, {
    metadata: {
      name,
      annotations: { [PROVISIONED_BY]: DRIVER, ...(isLocal && { [SELECTED_NODE]: selected.metadata.name }) },
    },
    spec: {
      capacity: { storage: requested(claim) },
      accessModes: claim.spec?.accessModes ?? ["ReadWriteOnce"],
      ...(claim.spec?.volumeMode && { volumeMode: claim.spec.volumeMode }),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      claimRef: claimReference(claim),
      ...(storageClass.mountOptions && !isLocal && { mountOptions: storageClass.mountOptions }),
      ...source,
    },
  });
  events.normal("ProvisioningSucceeded", `Successfully provisioned volume ${name}`);
}

type VolumeSource = Pick<NonNullable<PersistentVolume["spec"]>, "csi" | "local" | "nodeAffinity">;

/** Where volumes are made that wait for no pod: on a real node only if there are no others, which could not use it. */
function onlyReal(nodes: readonly Node[]): Node | undefined {
  return nodes.some(isSimulated) ? undefined : nodes[0];
}

function simulatedSource(storageClass: StorageClass, node: Node | undefined, name: string): VolumeSource {
  const topology = topologyFor(storageClass, node);
  return { csi: { driver: DRIVER, volumeHandle: name }, ...(topology && reachableFrom(topology)) };
}

/** A folder of the node, or why there is none. */
async function localSource(
  { metadata }: Node,
  { spec }: PersistentVolumeClaim,
  name: string,
  localVolumes: LocalVolumes | undefined,
): Promise<VolumeSource | string> {
  if (spec?.volumeMode === "Block") return "volumes of real nodes are folders, and cannot have the volumeMode Block";
  const path = await localVolumes?.create(metadata.name, name);
  if (path === undefined) {
    return `node "${metadata.name}" is not one that this cluster started: install a CSI driver there, and use its StorageClass`;
  }
  const hostname = metadata.labels?.[HOSTNAME] ?? metadata.name;
  return { local: { path }, ...reachableFrom([{ key: HOSTNAME, operator: "In", values: [hostname] }]) };
}

const HOSTNAME = "kubernetes.io/hostname";

function reachableFrom(matchExpressions: { key: string; operator: "In"; values: string[] }[]) {
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } };
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

/** Makes volumes for claims of the cluster's own class. */
export const provisioner: ControlPlaneComponent = controllersComponent(
  "simulated-provisioner",
  [PersistentVolumeClaim],
  ({ localVolumes }) => [driver(localVolumes)],
  {
    fieldManager: "csi-provisioner",
  },
);

/** The class of claims that name none, there from the start. */
export const defaultStorageClass: ControlPlaneComponent = {
  name: "default-storage-class",
  startsWith: "cluster",
  async start({ client, localVolumes }) {
    // Which kind of volume it is, and where, depends on the node.
    await createDefaultClass(client, localVolumes ? "WaitForFirstConsumer" : "Immediate");
    return { stop: async () => {} };
  },
};

/** Creates the class of claims that name none, unless the cluster has a class. */
export async function createDefaultClass(
  client: Client,
  volumeBindingMode: NonNullable<StorageClass["volumeBindingMode"]>,
): Promise<void> {
  const { items } = await client.list(StorageClass);
  if (items.length > 0) return;
  // Any node reaches its volumes, as those of a file server. To have them attached to one node at a time, delete this.
  await client.create(CSIDriver, { metadata: { name: DRIVER }, spec: { attachRequired: false } }).catch(unlessThere);
  await client.create(StorageClass, {
    metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: DRIVER,
    reclaimPolicy: "Delete",
    volumeBindingMode,
    allowVolumeExpansion: true,
  });
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
