/** The LLM operator: an LLMModel becomes a Deployment of inference servers with GPUs, and a Service in front of them. */
export * from "./llm-model.ts";
export * from "./llm-model-controller.ts";
