import { llmOperatorWith } from "@konverge/llm-operator";
import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { smallCanary } from "./canary-scenarios.ts";
import { monitored } from "./llm-model-scenarios.ts";
import { risesAndFalls } from "./load-scenarios.ts";
import { badDeployments as everyBadDeployment, noNodes } from "./model-deployment-bad-input.ts";
import {
  cappedByCost,
  deploymentQuota,
  deploys,
  operatorWithoutMetrics,
  sizedByDeclaration,
  sleeps,
} from "./model-deployment-scenarios.ts";
import { routed } from "./route-scenarios.ts";

const {
  "more GPUs than a node has": _asOfLlmModels,
  "servers with malformed metrics": _toOperatorsAnywhere,
  ...badDeployments
} = everyBadDeployment;

onReal(
  {
    "a ModelDeployment becomes a StatefulSet, Services, an autoscaler and a ConfigMap": deploys,
    "a declared load gives the first size and the autoscaler's bounds": sizedByDeclaration,
    "more load takes more replicas, less load takes fewer": risesAndFalls,
    "costs are capped, and that is reported": cappedByCost,
    "a model without requests is scaled to zero, and back when there are some": sleeps(llmOperatorWith),
    "a canary is promoted": smallCanary,
    "with the Gateway API, models get routes": routed,
    "a quota that keeps it from creating pods is reported until it is raised": deploymentQuota,
    ...badDeployments,
    "no nodes": onEmptyCluster(noNodes),
    "where the Prometheus operator is installed, it gets a ServiceMonitor": monitored,
  },
  { role: operatorWithoutMetrics },
);
