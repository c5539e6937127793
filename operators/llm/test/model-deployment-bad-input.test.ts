import { onEmbedded } from "@konverge/operator-suite";
import { badDeployments } from "./model-deployment-bad-input.ts";

for (const [name, scenario] of Object.entries(badDeployments)) onEmbedded(`a ModelDeployment with ${name}`, scenario);
