import { keyOf } from "@konverge/core";
import { PersistentVolume, VolumeAttachment } from "@konverge/kinds";
import { type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import type { LocalVolumes } from "../../parts/part.ts";
import { DRIVER, PROVISIONED_BY, SELECTED_NODE } from "./binding.ts";

const attachedVolume = ({ spec }: VolumeAttachment) => [spec.source.persistentVolumeName ?? ""];

/** Which nodes have a volume. */
export const attachments = watchKind<VolumeAttachment, PersistentVolume>(VolumeAttachment, {
  indexes: { volume: attachedVolume },
  to: attachedVolume,
});

/** Deletes a released volume of the cluster's own class. As its driver does, which cannot delete what a node has. */
export async function reclaim(
  volume: PersistentVolume,
  { client, cache }: ReconcileContext,
  localVolumes: LocalVolumes | undefined,
): Promise<void> {
  const isOurs = volume.metadata.annotations?.[PROVISIONED_BY] === DRIVER;
  const isAttached = cache.find(VolumeAttachment, "volume", keyOf(volume)).length > 0;
  if (volume.spec?.persistentVolumeReclaimPolicy !== "Delete" || !isOurs || isAttached) return;
  const node = volume.metadata.annotations?.[SELECTED_NODE];
  if (node) await localVolumes?.delete(node, volume.metadata.name);
  // Direct write: a volume that is reclaimed is deleted, the object itself.
  if (!volume.metadata.deletionTimestamp) await client.delete(PersistentVolume, keyOf(volume));
}

/** Deletes the volumes that another control plane has released. */
export function reclaimer(localVolumes: LocalVolumes) {
  return builtInController(PersistentVolume, {
    name: "simulated-provisioner: volumes",
    watches: [attachments],
    async reconcile(volume, context) {
      if (volume.status?.phase === "Released") await reclaim(volume, context, localVolumes);
      return undefined;
    },
  });
}
