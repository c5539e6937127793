import { Database, databaseOperator } from "@konverge/database-operator";
import {
  exactRole,
  repairsChildren,
  survivesCrashesAndErrors,
  survivesCrdDeletion,
  survivesDeletion,
  survivesFaults,
  survivesSpecChanges,
} from "@konverge/operator-suite";
import { issued } from "./certificate-scenarios.ts";
import { declaresOnce } from "./declared-scenarios.ts";
import { fencedOnce } from "./halt-scenarios.ts";
import { backupMask, isKept, isOthers, withoutPasswords } from "./masks.ts";
import {
  backupsOutlive,
  bootstraps,
  onDemand,
  restoreDeleted,
  restoresInPlace,
  scheduled,
} from "./recovery-scenarios.ts";
import { failsOverOnce, hasCompany } from "./replica-scenarios.ts";
import { backups, badInput, encrypted, ends, lives, made, resized } from "./scenarios.ts";
import { returnsFromUpgrade, upgradesInPlace, upgradesOnce } from "./upgrade-scenarios.ts";

const mask = withoutPasswords;
survivesCrashesAndErrors("a database lives, whatever fails", databaseOperator, lives);
survivesFaults("a database is made, whatever fails", databaseOperator, made, { mask });
survivesFaults("a major version is upgraded in place, whatever fails", databaseOperator, upgradesOnce, {
  mask: backupMask,
});
survivesFaults("a server is fenced and runs again, whatever fails", databaseOperator, fencedOnce, { mask });
survivesFaults("roles and databases are declared, whatever fails", databaseOperator, declaresOnce, { mask });
survivesDeletion("a database goes with all it has but its volumes, in each phase", databaseOperator, made, Database, {
  mask,
  kept: isKept,
});
repairsChildren("each field of a database's children is repaired", databaseOperator, made, { mask, except: isOthers });
const recovery = [onDemand, scheduled, restoresInPlace, restoreDeleted, bootstraps, backupsOutlive];
// The first that uses a rule is played without it: the shortest come first.
exactRole(databaseOperator, [
  lives,
  encrypted,
  issued,
  ends,
  resized,
  backups,
  badInput,
  ...recovery,
  hasCompany,
  declaresOnce,
  upgradesInPlace,
  returnsFromUpgrade,
  failsOverOnce,
]);
survivesCrdDeletion("a database survives that its kinds go and come", databaseOperator, made, { mask });
survivesSpecChanges("a database is as before after its spec is changed, and back", databaseOperator, made, { mask });
