import { onReal } from "@konverge/operator-suite";
import { recoveryBadInput } from "./recovery-bad-input.ts";
import { backupsOutlive, bootstraps, onDemand, restoresInPlace, scheduled } from "./recovery-scenarios.ts";

onReal({
  "a backup is taken when it is asked for": onDemand,
  "scheduled backups are told of, and let go": scheduled,
  "a restore in place replaces data while no server runs": restoresInPlace,
  "a new database begins with a backup": bootstraps,
  "backups outlive their database": backupsOutlive,
  "bad backups and restores are refused or reported, and go on when mended": recoveryBadInput,
});
