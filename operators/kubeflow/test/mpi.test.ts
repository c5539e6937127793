import { onEmbedded } from "@konverge/operator-suite";
import { AS_WRITTEN } from "./jobs.ts";
import {
  badMpiJobs,
  mpiDeletedAfterItsEnd,
  mpiFails,
  mpiImplementations,
  mpiNameTaken,
  mpiOfOthers,
  mpiRunning,
  mpiRuns,
  mpiStuck,
  mpiSuspended,
  mpiWorkers,
} from "./mpi-scenarios.ts";
import { keysStay } from "./train-mpi-scenarios.ts";

onEmbedded(
  "an MPIJob runs under upstream's names, with hosts and keys, and ends with its launcher",
  mpiRuns,
  AS_WRITTEN,
);
onEmbedded("an MPIJob that has ended is not launched again when its Job is deleted", mpiDeletedAfterItsEnd, AS_WRITTEN);
onEmbedded("a suspended MPIJob keeps no pod, and is resumed with what its spec says then", mpiSuspended, AS_WRITTEN);
onEmbedded("a launcher that fails too often fails its MPIJob", mpiFails, AS_WRITTEN);
onEmbedded("workers of an MPIJob are replaced; an eviction ends the job", mpiWorkers, AS_WRITTEN);
onEmbedded("Intel MPI and MPICH get their hosts, and a launcher can wait for workers", mpiImplementations, AS_WRITTEN);
onEmbedded("a launcher without room, or whose name is taken, is reported, and runs when it can", mpiStuck, AS_WRITTEN);
onEmbedded("a Job that has the name of a launcher is reported, and not touched", mpiNameTaken, AS_WRITTEN);
onEmbedded("MPIJobs that could never run are refused", badMpiJobs, AS_WRITTEN);
onEmbedded("where upstream's MPI operator is installed, nothing is touched", mpiOfOthers, AS_WRITTEN);
onEmbedded("keys of an MPIJob that lose their labels stay", keysStay(mpiRunning, "pi-ssh"), AS_WRITTEN);
