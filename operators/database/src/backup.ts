import { isNotFound, type ReconcileContext } from "konverge";
import { PersistentVolumeClaim } from "konverge/kinds";
import { backupScheduleFor } from "./backup-jobs.ts";
import { backupClaimFor, isOfOneNode } from "./backup-volume.ts";
import type { Database } from "./database.ts";
import { drillScheduleFor } from "./drill-jobs.ts";
import { backupName } from "./names.ts";
import { isReplica } from "./replica-source.ts";
import { heldForRestore } from "./restore-hold.ts";

/** The volume for a database's backups, and what takes and tries them on a schedule. */
export function backupsFor(database: Database, claim: PersistentVolumeClaim | undefined) {
  const isHeld = heldForRestore(database) !== undefined || isReplica(database);
  const stopped = (database.spec.hibernated ?? false) || isHeld;
  const beside = isOfOneNode(database, claim);
  return [
    ...backupClaimFor(database, claim),
    ...backupScheduleFor(database, { stopped, beside }),
    ...drillScheduleFor(database, { stopped, beside }),
  ];
}

/** Backups outlive a database whose volumes do: their claim is released before the object is deleted. */
export async function keepBackups(database: Database, client: ReconcileContext["client"]): Promise<void> {
  const { spec, metadata } = database;
  if (!spec.backup || spec.backup.claim || spec.deletionPolicy === "Delete") return;
  const key = `${metadata.namespace}/${backupName(database)}`;
  const patch = { merge: { metadata: { ownerReferences: null } } };
  // Direct write: a volume with backups is released from its owner so that it outlives it.
  await client.patch(PersistentVolumeClaim, key, patch).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
