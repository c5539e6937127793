/** The programs that serve models. */
export const ENGINES = ["vLLM", "SGLang", "LlamaCpp", "Ollama"] as const;
export type EngineName = (typeof ENGINES)[number];
