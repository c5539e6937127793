import { onReal } from "@konverge/operator-suite";
import { badInput, graph, lives, model, restart } from "./scenarios.ts";

onReal({
  "a graph becomes components, Deployments, Services, Ingress and claim": graph,
  "parts are repaired, follow the spec, and go with the graph": lives,
  "a model with an SLA is sized, and both versions tell the same": model,
  "a restart goes through the services in order": restart,
  "bad input is refused or reported, and recovers when mended": badInput,
});
