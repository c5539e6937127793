import type { EnvVar, Volume, VolumeMount } from "konverge/kinds";
import { placeEnvironment, placeMount, placeOf, placeVolume } from "./backup-place.ts";
import { spanSeconds } from "./backup-spec.ts";
import { methodOf } from "./backup-volume.ts";
import type { Database } from "./database.ts";

/** Seconds after which a primary learns again what its archive has: with the operator's round, a hole is found within a minute. */
const WATCH_SECONDS = "25";

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
    archive_command: backup.objectStore
      ? 'sh "$SCRIPTS/pgbackrest-archive.sh" "%p"'
      : 'sh "$SCRIPTS/archive.sh" "%p" "%f"',
    archive_timeout: `${spanSeconds(backup.archiveTimeout)}s`,
  };
}

/** What the server's container needs for it: all three are empty when nothing is archived. */
export const archiveEnvironment = (database: Database): EnvVar[] =>
  archivePlace(database).flatMap((place) => [
    ...placeEnvironment(place, database.metadata.name, "BACKUPS"),
    { name: "WATCH_INTERVAL", value: WATCH_SECONDS },
  ]);
export const archiveMounts = (database: Database): VolumeMount[] => archivePlace(database).map(placeMount);
export const archiveVolumes = (database: Database): Volume[] => archivePlace(database).map(placeVolume);

const archivePlace = (database: Database) => (isArchived(database) ? [placeOf(database)!] : []);
