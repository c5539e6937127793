/**
 * The LLM operator: an LLMModel becomes a Deployment of inference servers with GPUs, a Service in front of them and a
 * budget for disruptions.
 */
export * from "./llm-model.ts";
export * from "./llm-model-children.ts";
export * from "./llm-model-controller.ts";
export * from "./operator.ts";
