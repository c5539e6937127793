import { onReal } from "@konverge/operator-suite";
import { trainingOperator } from "@konverge/training-operator";
import * as gangs from "./gang-scheduling-scenarios.ts";
import * as restarts from "./restart-scenarios.ts";
import * as survival from "./survival-scenarios.ts";

onReal(
  {
    "two failing workers restart the gang once": restarts.theGangRestartsOnce,
    "disruptions restart the gang without using up the limit": restarts.disruptionsAreNotFailures,
    "exit codes decide": restarts.exitCodesDecide,
    "a changed spec makes a new gang": restarts.aChangedSpecRestarts,
    "an elastic job bends between its bounds": restarts.anElasticJobBends,
    "an elastic job is suspended, resumed and deleted with its checkpoints": survival.anElasticLife,
    "a PodGroup is kept for the gang": gangs.aPodGroupIsKept,
    "a job restarts, ends and is cleaned up": survival.aFullLife,
    "a job grows, loses a pod and deletes itself": survival.theRest,
    "a PodGroup of Volcano's grows with its job": survival.volcanoToo,
  },
  { role: trainingOperator },
);
