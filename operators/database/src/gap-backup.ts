import { findCondition, isAlreadyExists, type ReconcileContext } from "konverge";
import type { Database } from "./database.ts";
import { DatabaseBackup } from "./database-backup.ts";
import { RECOVERABLE } from "./recovery-status.ts";

/** On a DatabaseBackup that was created because WAL is missing: the last missing segment. */
export const AFTER_GAP = "databases.example.com/after-gap";

/** Milliseconds that a server which is coming back has to archive what is missing. */
const GRACE = 60_000;
/** Milliseconds between the creation of one backup and of the next, if the first did not close the gap. */
const RETRY = 300_000;

/**
 * Takes a base backup when WAL is missing in the archive: nothing after the gap can be restored from earlier ones. Returns the
 * milliseconds after which to check again, if a gap is open.
 */
export async function backUpAfterGap(
  database: Database,
  { cache, client, clock, events }: ReconcileContext,
): Promise<number | undefined> {
  const { metadata, spec, status } = database;
  const open = status?.gaps?.find(({ to }) => to === undefined);
  if (!open || !spec.backup || spec.hibernated) return undefined;
  const since = Date.parse(findCondition(status?.conditions, RECOVERABLE)?.lastTransitionTime ?? "");
  const made = cache
    .list(DatabaseBackup, metadata.namespace)
    .filter((one) => one.spec.database === metadata.name && one.metadata.labels?.[AFTER_GAP] === open.lastSegment);
  const latest = Math.max(...made.map((one) => Date.parse(one.metadata.creationTimestamp ?? "")));
  const due = made.length > 0 ? latest + RETRY : since + GRACE;
  if (!(due <= clock.now())) return Math.max(1_000, due - clock.now() || GRACE);
  const name = `${metadata.name}-gap-${open.lastSegment.slice(-10).toLowerCase()}-${made.length + 1}`;
  const labels = { [AFTER_GAP]: open.lastSegment, "database-name": metadata.name };
  try {
    // Direct write: a backup outlives the Database that it was taken of.
    await client.create(DatabaseBackup, {
      metadata: { name, namespace: metadata.namespace!, labels },
      spec: { database: metadata.name, method: "physical" },
    });
    events.normal(
      "BackupAfterGap",
      `DatabaseBackup ${name} is created: no earlier backup reaches beyond the missing WAL`,
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  return RETRY;
}
