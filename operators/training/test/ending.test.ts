import { onEmbedded } from "@konverge/operator-suite";
import * as scenarios from "./ending-scenarios.ts";

onEmbedded(
  "workers get the addresses of parameter servers, which run until they are done",
  scenarios.parameterServersServe,
);
onEmbedded("with successPolicy Chief, worker 0 decides", scenarios.theChiefDecides);
onEmbedded("cleanPodPolicy All takes everything away but the report", scenarios.allIsCleanedUp);
onEmbedded("cleanPodPolicy None leaves even what runs", scenarios.nothingIsCleanedUp);
onEmbedded("a finished job is deleted after its time", scenarios.aFinishedJobIsDeleted);
onEmbedded("a training that takes too long fails", scenarios.aDeadlinePasses);
onEmbedded("a job that cannot start in time fails", scenarios.aStartDeadlinePasses);
onEmbedded("a job is suspended and resumed", scenarios.aJobIsSuspendedAndResumed);
onEmbedded("a job of a queue that nobody serves is refused", scenarios.aQueueIsNotServed);
onEmbedded("a job of a Kueue queue starts when its group of pods is admitted", scenarios.aQueuedJobStarts);
