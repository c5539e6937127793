import { onEmbedded } from "@konverge/operator-suite";
import { deploymentRouted, routed } from "./route-scenarios.ts";

onEmbedded("an LLMModel has a route where the Gateway API is installed, and reports what the gateway says", routed);
onEmbedded("a ModelDeployment has a route to its Service, which goes with it", deploymentRouted);
