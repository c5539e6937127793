import { onEmbedded } from "@konverge/operator-suite";
import { badGraphs, withoutNodes } from "./bad-input.ts";

for (const [name, scenario] of Object.entries(badGraphs)) onEmbedded(name, scenario);
onEmbedded("a graph without nodes", withoutNodes, { nodes: [] });
