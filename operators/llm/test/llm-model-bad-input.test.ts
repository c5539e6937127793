import { onEmbedded } from "@konverge/operator-suite";
import { badInput, noNodes } from "./llm-model-bad-input.ts";

for (const [name, scenario] of Object.entries(badInput)) onEmbedded(`an LLMModel with ${name}`, scenario);
onEmbedded("an LLMModel without nodes", noNodes, { nodes: [] });
