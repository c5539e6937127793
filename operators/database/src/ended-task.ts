import { findCondition, type ReconcileResult } from "konverge";
import type { DatabaseBackup } from "./database-backup.ts";
import type { DatabaseRestore } from "./database-restore.ts";

/**
 * What a backup or restore that has ended continues to report. A result without Ready would make it Ready, as an object
 * that was reconciled and has no children: also one that has failed.
 */
export function endedTask({
  status,
}: DatabaseBackup | DatabaseRestore): ReconcileResult<DatabaseBackup & DatabaseRestore> {
  const ended = findCondition(status?.conditions, "Ready");
  return { conditions: { Ready: ended && { status: ended.status, reason: ended.reason, message: ended.message } } };
}
