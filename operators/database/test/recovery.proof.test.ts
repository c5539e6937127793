import { DatabaseBackup, DatabaseRestore, databaseOperator } from "@konverge/database-operator";
import { survivesApiErrors, survivesCrashes, survivesDeletion } from "@konverge/operator-suite";
import { backupMask, isOfDatabase } from "./masks.ts";
import { bootstraps, onDemand, restoreFails, restoresInPlace } from "./recovery-scenarios.ts";

const mask = { mask: backupMask };

survivesCrashes("a backup is taken once, whenever the operator dies", databaseOperator, onDemand, mask);
survivesCrashes("data are restored in place, whenever the operator dies", databaseOperator, restoresInPlace, mask);
survivesCrashes("a failed restore is undone, whenever the operator dies", databaseOperator, restoreFails, mask);
survivesCrashes("a database begins with a backup, whenever the operator dies", databaseOperator, bootstraps, mask);
survivesApiErrors("a backup is taken once, whatever request fails", databaseOperator, onDemand, { ...mask, runs: 60 });
survivesDeletion("a backup goes with its Job, in each phase", databaseOperator, onDemand, DatabaseBackup, {
  ...mask,
  kept: isOfDatabase,
});
survivesApiErrors("data are restored in place, whatever request fails", databaseOperator, restoresInPlace, {
  ...mask,
  runs: 40,
});
survivesDeletion("a restore goes with its Jobs, in each phase", databaseOperator, restoresInPlace, DatabaseRestore, {
  ...mask,
  kept: isOfDatabase,
});
