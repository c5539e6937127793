import { onReal } from "@konverge/operator-suite";
import { bothVersionsAreServed } from "./conversion-scenarios.ts";
import * as ending from "./ending-scenarios.ts";
import * as lifecycle from "./lifecycle-scenarios.ts";

onReal({
  "a job's workers are made, train and end, and all of it goes with the job": lifecycle.aJobSucceeds,
  "a job trains also where the definition of a tutorial is installed": lifecycle.aJobRunsByALesserDefinition,
  "one job is served in both versions": bothVersionsAreServed,
  "workers get the addresses of parameter servers, which run until they are done": ending.parameterServersServe,
  "a finished job is deleted after its time": ending.aFinishedJobIsDeleted,
  "a training that takes too long fails": ending.aDeadlinePasses,
  "a job is suspended and resumed": ending.aJobIsSuspendedAndResumed,
  "a job of a queue that nobody serves is refused": ending.aQueueIsNotServed,
});
