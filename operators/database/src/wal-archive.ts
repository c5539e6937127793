import type { EnvVar, PodSpec, VolumeMount } from "konverge/kinds";
import { spanSeconds } from "./backup-spec.ts";
import { backupClaimName, backupFolder, backupMount, backupVolume, methodOf } from "./backup-volume.ts";
import type { Database } from "./database.ts";

/** Whether a database's WAL is archived. */
export const isArchived = (database: Database) => methodOf(database) === "physical";

/**
 * Settings of a server that archives its WAL. The command is the server's child and has its variables: PGDATA, SCRIPTS and
 * those of {@link archiveEnvironment}.
 */
export function archiveParameters(database: Database): Readonly<Record<string, string>> {
  const { backup } = database.spec;
  if (!backup || !isArchived(database)) return {};
  return {
    archive_mode: "on",
    archive_command: 'sh "$SCRIPTS/archive.sh" "%p" "%f"',
    archive_timeout: `${spanSeconds(backup.archiveTimeout)}s`,
  };
}

/** What the server's container needs for it: all three are empty when nothing is archived. */
export function archiveEnvironment(database: Database): EnvVar[] {
  return isArchived(database) ? [{ name: "BACKUPS", value: backupFolder(database.metadata.name) }] : [];
}
export const archiveMounts = (database: Database): VolumeMount[] => (isArchived(database) ? [backupMount] : []);
export const archiveVolumes = (database: Database): NonNullable<PodSpec["volumes"]> =>
  isArchived(database) ? [backupVolume(backupClaimName(database))] : [];
