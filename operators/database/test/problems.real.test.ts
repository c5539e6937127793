import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { backupProblems, imageProblems, noNodes, restoreProblems, serverProblems } from "./problem-scenarios.ts";

onReal({
  "what keeps servers from running is reported, and they run when it is fixed": serverProblems,
  "an image that cannot be pulled is told of, and another one is taken": imageProblems,
  "without nodes a database waits, and runs when one comes": onEmptyCluster(noNodes),
  "what keeps a backup from being taken is told, and it is taken when that is mended": backupProblems,
  "what keeps a restore from being done is told, and it is done when that is mended": restoreProblems,
});
