import type { Database } from "./database.ts";

/** On a Database: the DatabaseRestore for which its servers are stopped. */
export const RESTORING = "databases.example.com/restoring";
/** On a Database that began with a backup: the DatabaseRestore that has brought it. */
export const BOOTSTRAPPED = "databases.example.com/bootstrapped";

/** Why a database's servers must not run now, in a sentence; undefined if they may. */
export function heldForRestore({ metadata, spec }: Database): string | undefined {
  const { [RESTORING]: restore, [BOOTSTRAPPED]: bootstrapped } = metadata.annotations ?? {};
  if (restore) return `the servers are stopped while DatabaseRestore ${restore} restores their data`;
  if (spec.bootstrap && !bootstrapped) return "the servers start when the backup is restored";
  return undefined;
}
