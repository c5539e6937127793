import { DatabaseBackup, DatabaseRestore, databaseOperator } from "@konverge/database-operator";
import { survivesCrashesAndErrors, survivesDeletion } from "@konverge/operator-suite";
import { backupMask, isOfDatabase } from "./masks.ts";
import { bootstraps, onDemand, restoreFails, restoresInPlace } from "./recovery-scenarios.ts";

const mask = { mask: backupMask };

survivesCrashesAndErrors("a backup is taken once, whatever fails", databaseOperator, onDemand, mask);
survivesCrashesAndErrors("data are restored in place, whatever fails", databaseOperator, restoresInPlace, mask);
survivesCrashesAndErrors("a failed restore is undone, whatever fails", databaseOperator, restoreFails, mask);
survivesCrashesAndErrors("a database begins with a backup, whatever fails", databaseOperator, bootstraps, mask);
survivesDeletion("a backup goes with its Job, in each phase", databaseOperator, onDemand, DatabaseBackup, {
  ...mask,
  kept: isOfDatabase,
});
survivesDeletion("a restore goes with its Jobs, in each phase", databaseOperator, restoresInPlace, DatabaseRestore, {
  ...mask,
  kept: isOfDatabase,
});
