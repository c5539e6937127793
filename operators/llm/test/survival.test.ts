import { LLMModel, llmOperator, ModelDeployment } from "@konverge/llm-operator";
import { repairsChildren, survivesApiErrors, survivesCrdDeletion, survivesDeletion } from "@konverge/operator-suite";
import { converges } from "./llm-model-scenarios.ts";
import { deafOperator, isDeployed, withoutSize } from "./model-deployment-scenarios.ts";

// Samples of what llm.proof.test.ts tries as a whole.
survivesApiErrors("an LLMModel converges whatever request fails", llmOperator, converges, { runs: 4 });
survivesDeletion("an LLMModel goes with all it has, whenever it is deleted", llmOperator, converges, LLMModel, {
  every: 3,
});
repairsChildren("an LLMModel's children are repaired", llmOperator, converges, { every: 12 });
survivesCrdDeletion("an LLMModel survives that its kind goes and comes", llmOperator, converges);

survivesApiErrors("a ModelDeployment converges whatever request fails", deafOperator, isDeployed, { runs: 3, seed: 2 });
survivesDeletion("a ModelDeployment goes with all it has", deafOperator, isDeployed, ModelDeployment, { every: 5 });
repairsChildren("a ModelDeployment's children are repaired", deafOperator, isDeployed, {
  every: 30,
  mask: withoutSize,
});
