import { parseQuantity, type QuantityValue, selectsLabels } from "@konverge/core";
import { type PersistentVolume, PersistentVolumeClaim, type StorageClass } from "@konverge/kinds";
import { selectorOf } from "../workloads/selector.ts";

export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
export const PROVISIONER = "volume.kubernetes.io/storage-provisioner";
export const PROVISIONER_BETA = "volume.beta.kubernetes.io/storage-provisioner";
/**
 * The driver of the cluster's own class. Its volumes exist in name only for simulated nodes; for a real node they are folders of
 * that node.
 */
export const DRIVER = "simulated.konverge.dev";
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
const CLASS_BETA = "volume.beta.kubernetes.io/storage-class";

/** The name of a claim's or a volume's class; empty: none. */
export function classOf({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string {
  return metadata.annotations?.[CLASS_BETA] ?? spec?.storageClassName ?? "";
}

export const requested = ({ spec }: PersistentVolumeClaim): QuantityValue =>
  spec?.resources?.requests?.["storage"] ?? "0";

/** Whether a volume is meant for this very claim. */
export function isFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec ?? {};
  if (!claimRef || claimRef.namespace !== metadata.namespace || claimRef.name !== metadata.name) return false;
  return !claimRef.uid || claimRef.uid === metadata.uid;
}

/** The best volume for a claim: one that was reserved for it, or else the smallest that will do. */
export function volumeFor(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const alive = volumes.filter(({ metadata }) => !metadata.deletionTimestamp);
  const reserved = alive.find((volume) => isFor(volume, claim));
  if (reserved) return reserved;
  const fitting = alive.filter((volume) => {
    const { spec, status } = volume;
    if (spec?.claimRef || (status?.phase && status.phase !== "Available" && status.phase !== "Pending")) return false;
    return fits(claim, volume);
  });
  return fitting.sort((a, b) => capacity(a).cmp(capacity(b)) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

/** Whether a volume satisfies a claim. */
export function fits(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const { spec = {} } = claim;
  if (classOf(claim) !== classOf(volume)) return false;
  if ((spec.volumeMode ?? "Filesystem") !== (volume.spec?.volumeMode ?? "Filesystem")) return false;
  if (capacity(volume).cmp(parseQuantity(requested(claim))) < 0) return false;
  if (!(spec.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode))) return false;
  return !spec.selector || selectsLabels(selectorOf(spec.selector), volume.metadata.labels);
}

const capacity = ({ spec }: PersistentVolume) => parseQuantity(spec?.capacity?.["storage"] ?? "0");

/** Whether a claim waits for the scheduler to choose a node first. */
export function waitsForConsumer(claim: PersistentVolumeClaim, storageClass: StorageClass | undefined): boolean {
  if (storageClass?.volumeBindingMode !== "WaitForFirstConsumer") return false;
  return !claim.metadata.annotations?.[SELECTED_NODE];
}

/** A reference to a claim, as a volume holds it. */
export function claimReference({ metadata }: PersistentVolumeClaim) {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    ...{ kind: PersistentVolumeClaim.kind, apiVersion: "v1" },
    name,
    namespace: namespace!,
    uid: uid!,
    resourceVersion: resourceVersion!,
  };
}
