import { onEmbedded } from "@konverge/operator-suite";
import { badDeployments, noNodes } from "./model-deployment-bad-input.ts";

for (const [name, scenario] of Object.entries(badDeployments)) onEmbedded(`a ModelDeployment with ${name}`, scenario);
onEmbedded("a ModelDeployment without nodes", noNodes, { nodes: [] });
