import type { CronJob, PersistentVolumeClaim } from "konverge/kinds";
import { backupScheduleFor } from "./backup-jobs.ts";
import { backupClaimFor } from "./backup-volume.ts";
import type { Database } from "./database.ts";
import { heldForRestore } from "./restore-hold.ts";

/** The volume for a database's backups, and what takes them on a schedule. */
export function backupsFor(database: Database): (CronJob | PersistentVolumeClaim)[] {
  const stopped = (database.spec.hibernated ?? false) || heldForRestore(database) !== undefined;
  return [...backupClaimFor(database), ...backupScheduleFor(database, stopped)];
}
