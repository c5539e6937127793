import type { BackupMethod } from "./backup-spec.ts";
import type { Database } from "./database.ts";
import { engineOf } from "./engines.ts";
import { UPGRADING } from "./version.ts";

/** On a Database: the DatabaseRestore for which its servers are stopped. */
export const RESTORING = "databases.example.com/restoring";
/** On a Database that began with a backup: the DatabaseRestore that has brought it. */
export const BOOTSTRAPPED = "databases.example.com/bootstrapped";

/** The DatabaseRestore that brings the backup which a database begins with. */
export const bootstrapName = ({ metadata }: Pick<Database, "metadata">) => `${metadata.name}-bootstrap`;

/** How a backup comes back into a database: as files into its stopped server, or as SQL into a running one. */
export function restoreMethod(database: Database, said: BackupMethod | undefined): BackupMethod {
  return said ?? (engineOf(database).name === "postgres" ? "physical" : "logical");
}

/** Whether a database still waits for the backup that it begins with. */
export function awaitsBootstrap({ metadata, spec }: Database): boolean {
  return spec.bootstrap !== undefined && metadata.annotations?.[BOOTSTRAPPED] === undefined;
}

/** Why a database's servers must not run now, in a sentence; undefined if they may. */
export function heldForRestore(database: Database): string | undefined {
  const { metadata, spec } = database;
  const restore = metadata.annotations?.[RESTORING];
  if (restore) return `the servers are stopped while DatabaseRestore ${restore} restores their data`;
  const upgrade = metadata.annotations?.[UPGRADING];
  if (upgrade) return `the servers are stopped while DatabaseUpgrade ${upgrade} upgrades their data`;
  const isOfFiles = restoreMethod(database, spec.bootstrap?.from?.method) === "physical";
  if (awaitsBootstrap(database) && isOfFiles)
    return `the servers start when DatabaseRestore ${bootstrapName(database)} has restored the backup: see its status`;
  return undefined;
}
