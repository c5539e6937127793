import { onEmbedded } from "@konverge/operator-suite";
import { badGraphs, buildQuota, withoutNodes } from "./bad-input.ts";

for (const [name, scenario] of Object.entries(badGraphs)) onEmbedded(name, scenario);
onEmbedded("an image for whose build a quota leaves no room", buildQuota);
onEmbedded("a graph without nodes", withoutNodes, { nodes: [] });
