import { onEmbedded } from "@konverge/operator-suite";
import { AS_WRITTEN } from "./jobs.ts";
import { trainJobOfPlugin, trainJobOfVolcano } from "./train-gang-scenarios.ts";
import {
  keysStay,
  trainJobMpi,
  trainJobMpiFails,
  trainJobMpiResting,
  trainJobMpiSuspended,
} from "./train-mpi-scenarios.ts";
import {
  badTrainJobs,
  trainJobDeletedAfterItsEnd,
  trainJobFails,
  trainJobInitialized,
  trainJobKeepsRuntime,
  trainJobLimits,
  trainJobOfOthers,
  trainJobRuns,
  trainJobStuck,
  trainJobSuspended,
  trainJobWaits,
} from "./train-scenarios.ts";

onEmbedded("a TrainJob runs under upstream's names and variables, and is complete", trainJobRuns, AS_WRITTEN);
onEmbedded(
  "a TrainJob that has ended is not trained again when its Job is deleted",
  trainJobDeletedAfterItsEnd,
  AS_WRITTEN,
);
onEmbedded("a TrainJob trains when its dataset is there", trainJobInitialized, AS_WRITTEN);
onEmbedded("a Job that fails fails its TrainJob", trainJobFails, AS_WRITTEN);
onEmbedded("a suspended TrainJob keeps no pod, and is resumed with its patches", trainJobSuspended, AS_WRITTEN);
onEmbedded("a TrainJob waits for its runtime, and starts when it appears", trainJobWaits, AS_WRITTEN);
onEmbedded("a TrainJob keeps the runtime that it was started with", trainJobKeepsRuntime, AS_WRITTEN);
onEmbedded("a TrainJob that takes too long fails, and what has ended expires", trainJobLimits, AS_WRITTEN);
onEmbedded("a Job of that name and pods without room are reported", trainJobStuck, AS_WRITTEN);
onEmbedded("TrainJobs and runtimes that could never run are refused or reported", badTrainJobs, AS_WRITTEN);
onEmbedded("where upstream's trainer is installed, TrainJobs are ignored", trainJobOfOthers, AS_WRITTEN);
onEmbedded(
  "a launcher of MPI has keys and hosts for its nodes, and its end is that of the TrainJob",
  trainJobMpi,
  AS_WRITTEN,
);
onEmbedded("a suspended TrainJob keeps its keys, and goes with them", trainJobMpiSuspended, AS_WRITTEN);
onEmbedded("a launcher of MPI that fails fails its TrainJob, and its nodes go", trainJobMpiFails, AS_WRITTEN);
onEmbedded(
  "keys of a TrainJob that lose their labels stay",
  keysStay(trainJobMpiResting, "pi-mpi-ssh-auth"),
  AS_WRITTEN,
);
onEmbedded(
  "the pods of a TrainJob belong to a PodGroup of Volcano, without which there are none",
  trainJobOfVolcano,
  AS_WRITTEN,
);
onEmbedded("the pods of a TrainJob belong to a PodGroup of the coscheduling plugin", trainJobOfPlugin, AS_WRITTEN);
