import { onEmbedded } from "@konverge/operator-suite";
import * as scenarios from "./restart-scenarios.ts";

onEmbedded("two failing workers restart the gang once, and the first cause is reported", scenarios.theGangRestartsOnce);
onEmbedded("after backoffLimit restarts the job fails", scenarios.theBackOffLimitIsReached);
onEmbedded("with restartPolicy ExitCode, exit codes decide", scenarios.exitCodesDecide);
onEmbedded("disruptions restart the gang without using up the limit", scenarios.disruptionsAreNotFailures);
onEmbedded(
  "finished workers whose pods are deleted still count, and no other worker restarts",
  scenarios.finishedWorkersAreRemembered,
);
onEmbedded("what finished in one gang does not count in the next", scenarios.aNewGangRunsInFull);
onEmbedded("with restartPolicy Never, the first failure is the last", scenarios.oneTryOnly);
onEmbedded("a changed spec makes a new gang, without counting as a restart", scenarios.aChangedSpecRestarts);
onEmbedded("an elastic job bends between its bounds", scenarios.anElasticJobBends);
onEmbedded("a node that is lost does not hold the gang", scenarios.aLostNodeDoesNotBlock);
