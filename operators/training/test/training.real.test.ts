import { onReal } from "@konverge/operator-suite";
import * as badInput from "./bad-input-scenarios.ts";
import { bothVersionsAreServed } from "./conversion-scenarios.ts";
import * as ending from "./ending-scenarios.ts";
import * as gangs from "./gang-scheduling-scenarios.ts";
import * as lifecycle from "./lifecycle-scenarios.ts";
import * as restarts from "./restart-scenarios.ts";

onReal({
  "a job's workers are made, train and end, and all of it goes with the job": lifecycle.aJobSucceeds,
  "one job is served in both versions": bothVersionsAreServed,
  "parameter servers are told of, and stopped": ending.parameterServersServe,
  "a finished job is deleted after its time": ending.aFinishedJobIsDeleted,
  "a training that takes too long fails": ending.aDeadlinePasses,
  "a job is suspended and resumed": ending.aJobIsSuspendedAndResumed,
  "a job of a Kueue queue waits": ending.aQueuedJobWaits,
  "two failing workers restart the gang once": restarts.theGangRestartsOnce,
  "disruptions restart the gang without using up the limit": restarts.disruptionsAreNotFailures,
  "exit codes decide": restarts.exitCodesDecide,
  "a changed spec makes a new gang": restarts.aChangedSpecRestarts,
  "an elastic job bends between its bounds": restarts.anElasticJobBends,
  "a PodGroup is kept for the gang": gangs.aPodGroupIsKept,
  "jobs that make no sense are refused": badInput.nonsenseIsRefused,
  "a claim that does not exist is named": badInput.aClaimIsMissing,
  "a quota that is too small is named": badInput.aQuotaIsExceeded,
  "a type of GPU that no node has keeps a job from starting": badInput.anUnknownGpuType,
  "a pod of somebody else's is left alone": badInput.aNameIsTaken,
});
