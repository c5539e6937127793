import { onReal } from "@konverge/operator-suite";
import { recoveryBadInput } from "./recovery-bad-input.ts";
import { backupsOutlive, onDemand } from "./recovery-scenarios.ts";

onReal({
  "a backup is taken when it is asked for": onDemand,
  "backups outlive their database": backupsOutlive,
  "bad backups and restores are refused or reported, and continue when they are fixed": recoveryBadInput,
});
