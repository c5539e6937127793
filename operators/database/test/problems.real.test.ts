import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { backupProblems, imageProblems, noNodes, restoreProblems, serverProblems } from "./problem-scenarios.ts";

onReal({
  "what keeps servers from running is reported, and they run when it is fixed": serverProblems,
  "an image that cannot be pulled is reported, and another one is used": imageProblems,
  "without nodes a database waits, and runs when one comes": onEmptyCluster(noNodes),
  "the reason why a backup cannot be taken is reported, and it is taken once that is fixed": backupProblems,
  "the reason why a restore cannot start is reported, and it runs once that is fixed": restoreProblems,
});
