import { createHash } from "node:crypto";
import { CSIDriver, PersistentVolume, PersistentVolumeClaim, type Pod, type Volume } from "@konverge/kinds";
import type { Cache, CacheView } from "@konverge/runtime";
import { ephemeralClaimName } from "./ephemeral-volumes.ts";

/** The annotation of nodes whose kubelets leave attaching to the attach-detach controller. */
export const MANAGED_ATTACHING = "volumes.kubernetes.io/controller-managed-attach-detach";

/** A volume of a pod behind a claim. */
export interface ClaimedVolume {
  /** The name that the pod gives it. */
  readonly name: string;
  readonly volume: PersistentVolume;
}

/** The names of the claims that pods use, with their namespace. */
export function claimKeysOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => claimKeyOf(pod, volume) ?? []);
}

function claimKeyOf(pod: Pod, volume: Volume): string | undefined {
  const name =
    volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral ? ephemeralClaimName(pod, volume) : undefined);
  return name === undefined ? undefined : `${pod.metadata.namespace}/${name}`;
}

/** Which volumes pods use through their claims, and which of those are attached to nodes before they are mounted. */
export class ClaimedVolumes {
  readonly claims: CacheView<PersistentVolumeClaim>;
  readonly volumes: CacheView<PersistentVolume>;
  readonly drivers: CacheView<CSIDriver>;

  constructor(cache: Cache) {
    this.claims = cache.use(PersistentVolumeClaim);
    this.volumes = cache.use(PersistentVolume);
    this.drivers = cache.use(CSIDriver);
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.claims.whenSynced(), this.volumes.whenSynced(), this.drivers.whenSynced()]);
  }

  /** Of a pod, as far as its claims are bound. */
  of(pod: Pod): ClaimedVolume[] {
    return (pod.spec?.volumes ?? []).flatMap((volume) => {
      const claim = this.claims.get(claimKeyOf(pod, volume) ?? "");
      const bound = claim?.status?.phase === "Bound" ? this.volumes.get(claim.spec?.volumeName ?? "") : undefined;
      return bound ? [{ name: volume.name, volume: bound }] : [];
    });
  }

  /** Volumes of CSI drivers are attached unless the driver's object rules it out: a driver without an object may attach. */
  isAttachable({ spec }: PersistentVolume): boolean {
    return spec?.csi !== undefined && this.drivers.get(spec.csi.driver)?.spec?.attachRequired !== false;
  }
}

/** The name by which a node's status lists a volume of a CSI driver. */
export function uniqueVolumeName({ spec }: PersistentVolume): string {
  return `kubernetes.io/csi/${spec?.csi?.driver}^${spec?.csi?.volumeHandle}`;
}

/** The name of the VolumeAttachment of a volume on a node. */
export function attachmentName({ spec }: PersistentVolume, nodeName: string): string {
  const { volumeHandle = "", driver = "" } = spec?.csi ?? {};
  return `csi-${createHash("sha256").update(`${volumeHandle}${driver}${nodeName}`).digest("hex")}`;
}

/** Whether a name is that of an attachment that this controller has made. */
export const isAttachmentName = (name: string): boolean => /^csi-[0-9a-f]{64}$/.test(name);

/** Whether several nodes may have a volume at a time. */
export function isSharable({ spec }: PersistentVolume): boolean {
  const { accessModes = [] } = spec ?? {};
  return accessModes.length === 0 || accessModes.some((mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany");
}
