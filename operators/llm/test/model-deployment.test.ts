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
onEmbedded("costs are capped, and it is told", cappedByCost);
onEmbedded("a model sleeps when nobody asks, and wakes when somebody does", sleeps(llmOperatorWith));
onEmbedded("a quota keeps a ModelDeployment's pods from being made: it is told, and passes", deploymentQuota);
onEmbedded("the samples of ModelDeployments converge", deploymentSamplesConverge);
