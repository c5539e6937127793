import { onEmbedded } from "@konverge/operator-suite";
import { badInput } from "./llm-model-bad-input.ts";

for (const [name, scenario] of Object.entries(badInput)) onEmbedded(`an LLMModel with ${name}`, scenario);
