import type { ReconcileContext } from "konverge";
import { PersistentVolumeClaim, type PodSpec, type VolumeMount } from "konverge/kinds";
import { claimSharing } from "konverge/pods";
import type { BackupMethod } from "./backup-spec.ts";
import type { Database } from "./database.ts";
import { engineOf } from "./engines.ts";
import { backupName, metadataOf } from "./names.ts";

/** Where pods have the volume with the backups. */
export const BACKUPS_FOLDER = "/backups";
const VOLUME = "backups";

type Volume = NonNullable<PodSpec["volumes"]>[number];

/** How backups of a database are taken, if they are. */
export function methodOf(database: Database): BackupMethod | undefined {
  const { backup } = database.spec;
  if (!backup) return undefined;
  return backup.method ?? (engineOf(database).name === "postgres" ? "physical" : "logical");
}

/** The claim that a database's backups are on. */
export const backupClaimName = (database: Database) => database.spec.backup?.claim ?? backupName(database);

/** Where the backups of a database are within a volume: several databases may share one. */
export const backupFolder = (name: string) => `${BACKUPS_FOLDER}/${name}`;

/** Brings the volume into a pod. */
export const backupVolume = (claimName: string): Volume => ({
  name: VOLUME,
  persistentVolumeClaim: { claimName },
});
export const backupMount: VolumeMount = { name: VOLUME, mountPath: BACKUPS_FOLDER };

/** Whether the volume can be in pods of one node alone: as the claim says, or before it exists, as it will. */
export function isOfOneNode({ spec }: Database, claim: PersistentVolumeClaim | undefined): boolean {
  if (spec.backup?.objectStore) return false;
  if (claim) return claimSharing(claim) !== "any-node";
  return (spec.backup?.accessMode ?? (spec.instances > 1 ? "ReadWriteMany" : "ReadWriteOnce")) === "ReadWriteOnce";
}

/** The claim with a database's backups, if it exists. */
export function existingBackupClaim(
  database: Database,
  { cache }: Pick<ReconcileContext, "cache">,
): PersistentVolumeClaim | undefined {
  if (!database.spec.backup) return undefined;
  return cache.get(PersistentVolumeClaim, `${database.metadata.namespace}/${backupClaimName(database)}`);
}

/** A pod that shares a volume of one node with a server must be where that server is. */
export function besideServer(pod: string): Pick<PodSpec, "affinity"> {
  const labelSelector = { matchLabels: { "statefulset.kubernetes.io/pod-name": pod } };
  const term = { labelSelector, topologyKey: "kubernetes.io/hostname" };
  return { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

/**
 * The claim for the backups, unless one is named. The access modes of a claim that exists cannot be changed. A database that moves
 * to an object store keeps its claim: there are backups on it.
 */
export function backupClaimFor(database: Database, existing: PersistentVolumeClaim | undefined) {
  const { backup, storageClass } = database.spec;
  if (!backup || backup.claim || (backup.objectStore && !existing)) return [];
  return [
    PersistentVolumeClaim.draft({
      metadata: metadataOf(database, backupName(database)),
      spec: {
        accessModes: existing?.spec?.accessModes ?? [
          isOfOneNode(database, undefined) ? "ReadWriteOnce" : "ReadWriteMany",
        ],
        ...(storageClass && { storageClassName: storageClass }),
        resources: { requests: { storage: String(backup.size) } },
      },
    }),
  ];
}
