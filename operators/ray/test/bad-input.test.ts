import { onEmbedded } from "@konverge/operator-suite";
import { badClusters, withoutNodes } from "./bad-input.ts";

for (const [name, scenario] of Object.entries(badClusters)) onEmbedded(`a cluster with ${name}`, scenario);
onEmbedded("a cluster without nodes", withoutNodes, { nodes: [] });
