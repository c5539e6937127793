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
onEmbedded("an image that cannot be pulled is told of, and another one is taken", imageProblems);
onEmbedded("backups and restores tell of an image that cannot be pulled, and go on with it", taskImageProblems);
onEmbedded("without nodes a database waits, and runs when one comes", noNodes, { nodes: [] });
onEmbedded("what keeps a backup from being taken is told, and it is taken when that is mended", backupProblems);
onEmbedded("what keeps a restore from being done is told, and it is done when that is mended", restoreProblems);
