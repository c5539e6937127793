import { onEmbedded } from "@konverge/operator-suite";
import {
  canaryExample,
  changedOnTheWay,
  deletedOnTheWay,
  lateStatus,
  neverReady,
  promoted,
  repairedOnTheWay,
  restartedOnTheWay,
  tooSlow,
  unmeasured,
  watchedSteps,
  weightedRoute,
  withinSla,
  withoutCanary,
} from "./canary-scenarios.ts";

onEmbedded("a canary is promoted step by step", promoted);
onEmbedded(
  "a canary gets its share of replicas, and the stable ones are not touched before it is promoted",
  watchedSteps,
);
onEmbedded("with the Gateway API, a canary gets its weight of the requests", weightedRoute);
onEmbedded("a canary that is within the SLA is promoted", withinSla);
onEmbedded("a canary that misses the SLA is rolled back, and not tried again", tooSlow);
onEmbedded("a canary without requests stays in its step", unmeasured);
onEmbedded("a canary that never becomes ready is rolled back, and another revision is tried", neverReady);
onEmbedded("another revision during a canary starts at the first step, and the stable one ends it", changedOnTheWay);
onEmbedded("the stable revision is repaired as it was during a canary", repairedOnTheWay);
onEmbedded("a ModelDeployment goes with all it has during a canary", deletedOnTheWay);
onEmbedded("a status that a replaced process writes late does not disturb a promoted canary", lateStatus);
onEmbedded("an operator that starts again continues a canary where it was", restartedOnTheWay);
onEmbedded(
  "a lost record of the stable revision is reported, and without the field the spec is rolled out",
  withoutCanary,
);
onEmbedded("the example of a canary converges", canaryExample);
