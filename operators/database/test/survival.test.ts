import { Database, DatabaseBackup, databaseOperator } from "@konverge/database-operator";
import { repairsChildren, survivesApiErrors, survivesCrdDeletion, survivesDeletion } from "@konverge/operator-suite";
import { backupMask, isKept, isOfDatabase, isOthers, withoutPasswords } from "./masks.ts";
import { onDemand } from "./recovery-scenarios.ts";
import { made } from "./scenarios.ts";

// Samples of what database.proof.test.ts and recovery.proof.test.ts try as a whole.
const mask = withoutPasswords;
survivesApiErrors("a database is made whatever request fails", databaseOperator, made, { mask, runs: 3 });
survivesApiErrors("a backup is taken once, whatever request fails", databaseOperator, onDemand, {
  mask: backupMask,
  runs: 2,
});
survivesDeletion("a database goes with all it has but its volumes", databaseOperator, made, Database, {
  mask,
  kept: isKept,
  every: 8,
});
survivesDeletion("a backup goes with its Job", databaseOperator, onDemand, DatabaseBackup, {
  mask: backupMask,
  kept: isOfDatabase,
  every: 8,
});
repairsChildren("a database's children are repaired", databaseOperator, made, { mask, every: 60, except: isOthers });
survivesCrdDeletion("a database survives that its kinds go and come", databaseOperator, made, { mask });
