import { onReal } from "@konverge/operator-suite";
import * as gangs from "./gang-scheduling-scenarios.ts";
import * as restarts from "./restart-scenarios.ts";

onReal({
  "two failing workers restart the gang once": restarts.theGangRestartsOnce,
  "disruptions restart the gang without using up the limit": restarts.disruptionsAreNotFailures,
  "exit codes decide": restarts.exitCodesDecide,
  "a changed spec makes a new gang": restarts.aChangedSpecRestarts,
  "an elastic job bends between its bounds": restarts.anElasticJobBends,
  "a PodGroup is kept for the gang": gangs.aPodGroupIsKept,
});
