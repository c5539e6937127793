import { operator } from "konverge";
import { LLMModel } from "./llm-model.ts";
import { llmModels } from "./llm-model-controller.ts";

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const llmOperator = operator({
  name: "llm-operator",
  description: "Serves large language models on GPUs.",
  kinds: [LLMModel],
  create: () => ({ controllers: [llmModels] }),
});
