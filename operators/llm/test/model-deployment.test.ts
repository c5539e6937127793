import { llmOperatorWith } from "@konverge/llm-operator";
import { onEmbedded } from "@konverge/operator-suite";
import {
  cappedByCost,
  deploymentQuota,
  deploymentSamplesConverge,
  deploys,
  sizedByDeclaration,
  sleeps,
} from "./model-deployment-scenarios.ts";

onEmbedded("a ModelDeployment becomes a StatefulSet, Services, an autoscaler and a ConfigMap", deploys);
onEmbedded("a declared load gives the first size and the autoscaler's bounds", sizedByDeclaration);
onEmbedded("costs are capped, and that is reported", cappedByCost);
onEmbedded("a model without requests is scaled to zero, and back when there are some", sleeps(llmOperatorWith));
onEmbedded("a quota that keeps a ModelDeployment from creating pods is reported until it is raised", deploymentQuota);
onEmbedded("the samples of ModelDeployments converge", deploymentSamplesConverge);
