import { onEmbedded } from "@konverge/operator-suite";
import { badModels, withoutNodes } from "./bad-input.ts";

for (const [name, scenario] of Object.entries(badModels)) onEmbedded(`a model with ${name}`, scenario);
onEmbedded("a model without nodes", withoutNodes, { nodes: [] });
