import { onEmbedded } from "@konverge/operator-suite";
import * as scenarios from "./lifecycle-scenarios.ts";

onEmbedded("a job's workers are made, train and end, and all of it goes with the job", scenarios.aJobSucceeds);
onEmbedded("a job with a GPU type runs on nodes whose product is of that type", scenarios.aJobFindsItsGpus);
onEmbedded("a job trains also where the definition of a tutorial is installed", scenarios.aJobRunsByALesserDefinition);
onEmbedded(
  "workers that share a volume of one node run on that node, and a volume of one pod is refused",
  scenarios.workersShareAVolume,
);
