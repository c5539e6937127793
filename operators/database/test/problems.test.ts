import { onEmbedded } from "@konverge/operator-suite";
import {
  backupProblems,
  imageProblems,
  noNodes,
  restoreProblems,
  serverProblems,
  taskImageProblems,
} from "./problem-scenarios.ts";

onEmbedded("what keeps servers from running is reported, and they run when it is fixed", serverProblems);
onEmbedded("an image that cannot be pulled is reported, and another one is used", imageProblems);
onEmbedded(
  "backups and restores report an image that cannot be pulled, and continue once it can be",
  taskImageProblems,
);
onEmbedded("without nodes a database waits, and runs when one comes", noNodes, { nodes: [] });
onEmbedded("the reason why a backup cannot be taken is reported, and it is taken once that is fixed", backupProblems);
onEmbedded("the reason why a restore cannot start is reported, and it runs once that is fixed", restoreProblems);
