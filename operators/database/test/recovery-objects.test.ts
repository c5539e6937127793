import { onEmbedded } from "@konverge/operator-suite";
import { drills } from "./drill-scenarios.ts";
import { cannotGrow, nameTaken, restoreGivenUp, startedByHand } from "./rare-scenarios.ts";
import { recoveryBadInput } from "./recovery-bad-input.ts";
import {
  attachedBackups,
  backupFails,
  backupsOutlive,
  bootstraps,
  onDemand,
  oneAtATime,
  releaseConflicts,
  reportsSteps,
  restoreDeleted,
  restoreFails,
  restoreRepaired,
  scheduled,
} from "./recovery-scenarios.ts";

onEmbedded("a backup is taken when it is asked for", onDemand);
onEmbedded("scheduled backups get DatabaseBackups, and expire", scheduled);
onEmbedded("a backup that fails says why", backupFails);
onEmbedded("a restore in place replaces data while no server runs, and reports its steps", reportsSteps);
onEmbedded("a restore that fails leaves what was there", restoreFails);
onEmbedded(
  "servers start again after a failed restore, even if the Database cannot be written at once",
  releaseConflicts,
);
onEmbedded("a restore that is deleted leaves what was there, in each phase", restoreDeleted);
onEmbedded("a Job of a restore is started again when it is deleted, in each phase", restoreRepaired);
onEmbedded("a new database begins with a backup", bootstraps);
onEmbedded("backups outlive their database", backupsOutlive);
onEmbedded("pods that share a volume of one node run there, and no others wait for it", attachedBackups);
onEmbedded("a database is restored by one restore at a time", oneAtATime);
onEmbedded("bad backups and restores are refused or reported, and continue when they are fixed", recoveryBadInput);
onEmbedded("a backup that is started by hand from the schedule gets a DatabaseBackup, and expires", startedByHand);
onEmbedded("volumes that cannot grow keep their size, and that is reported", cannotGrow);
onEmbedded("a restore that is given up leaves what was there", restoreGivenUp);
onEmbedded("a Job of another's with a backup's name is left alone", nameTaken);
onEmbedded("backups are restored on a schedule, and a drill that fails is reported", drills);
