import { LLMModel, llmOperator, llmOperatorWith, ModelDeployment } from "@konverge/llm-operator";
import {
  exactRole,
  repairsChildren,
  survivesApiErrors,
  survivesCrashes,
  survivesCrdDeletion,
  survivesDeletion,
} from "@konverge/operator-suite";
import { converges, convergesOnNodes, lives, monitored, recovers } from "./llm-model-scenarios.ts";
import {
  deafOperator,
  deploymentQuota,
  isDeployed,
  resized,
  sleeps,
  withoutSize,
} from "./model-deployment-scenarios.ts";

exactRole(deafOperator, [monitored, deploymentQuota, sleeps(llmOperatorWith)]);

survivesCrashes("an LLMModel converges whenever the operator dies", llmOperator, converges);
survivesCrashes("an LLMModel is scaled and deleted whenever the operator dies", llmOperator, lives);
survivesCrashes("an LLMModel recovers from a problem whenever the operator dies", llmOperator, recovers);
survivesApiErrors("an LLMModel converges whatever request fails", llmOperator, converges);
survivesDeletion("an LLMModel goes with all it has, in each phase", llmOperator, converges, LLMModel);
survivesDeletion("an LLMModel with a problem goes with all it has, in each phase", llmOperator, recovers, LLMModel);
repairsChildren("each field of an LLMModel's children is repaired", llmOperator, converges);

survivesCrashes("a ModelDeployment converges whenever the operator dies", deafOperator, isDeployed);
survivesCrashes("a ModelDeployment is resized and deleted whenever the operator dies", deafOperator, resized);
survivesApiErrors("a ModelDeployment converges whatever request fails", deafOperator, isDeployed);
survivesDeletion("a ModelDeployment goes with all it has, in each phase", deafOperator, isDeployed, ModelDeployment);
repairsChildren("each field of a ModelDeployment's children is repaired", deafOperator, isDeployed, {
  mask: withoutSize,
});
survivesCrdDeletion("a ModelDeployment survives that its kind goes and comes", deafOperator, isDeployed);
survivesCrdDeletion("an LLMModel survives that its kind goes and comes", llmOperator, convergesOnNodes);
