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
  const asBefore = (type: string) => {
    const before = findCondition(status?.conditions, type);
    return before && { status: before.status, reason: before.reason, message: before.message };
  };
  return { conditions: { Ready: asBefore("Ready"), Degraded: asBefore("Degraded") } };
}
