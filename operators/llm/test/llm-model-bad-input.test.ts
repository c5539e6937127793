import { onEmbedded } from "@konverge/operator-suite";
import { badInput, crashesSlowly, crashesWhenReady, noNodes } from "./llm-model-bad-input.ts";

for (const [name, scenario] of Object.entries(badInput)) onEmbedded(`an LLMModel with ${name}`, scenario);
onEmbedded("an LLMModel without nodes", noNodes, { nodes: [] });
onEmbedded("a server that takes minutes to fail is Degraded all the time, with the cause", crashesSlowly);
onEmbedded("a server that fails again and again is Degraded also while it is ready", crashesWhenReady);
