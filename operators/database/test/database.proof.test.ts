import { databaseOperator } from "@konverge/database-operator";
import { exactRole, survivesCrashes } from "@konverge/operator-suite";
import {
  backupsOutlive,
  bootstraps,
  onDemand,
  restoreDeleted,
  restoresInPlace,
  scheduled,
} from "./recovery-scenarios.ts";
import { failsOverOnce, hasCompany } from "./replica-scenarios.ts";
import { backups, badInput, ends, lives, resized } from "./scenarios.ts";

survivesCrashes("a database is made, whenever the operator dies", databaseOperator, lives);
const recovery = [onDemand, scheduled, restoresInPlace, restoreDeleted, bootstraps, backupsOutlive];
// The first that uses a rule is played without it: the shortest come first.
exactRole(databaseOperator, [lives, ends, resized, backups, badInput, ...recovery, hasCompany, failsOverOnce]);
