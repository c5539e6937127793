import { onReal } from "@konverge/operator-suite";
import { badDeployments } from "./model-deployment-bad-input.ts";
import { cappedByCost, deploymentQuota, deploys, sizedByDeclaration } from "./model-deployment-scenarios.ts";

onReal({
  "a ModelDeployment becomes a StatefulSet, Services, an autoscaler and a ConfigMap": deploys,
  "a declared load gives the first size and the autoscaler's bounds": sizedByDeclaration,
  "costs are capped, and it is told": cappedByCost,
  "a quota keeps pods from being made: it is told, and passes": deploymentQuota,
  "what is wrong is refused":
    badDeployments["wrong types, impossible sizes and fields that contradict each other are refused"]!,
});
