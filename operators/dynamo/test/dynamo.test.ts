import { onEmbedded } from "@konverge/operator-suite";
import {
  attachedVolumes,
  autoscaled,
  badInput,
  build,
  graph,
  groups,
  keepsVolume,
  lives,
  model,
  multinode,
  restart,
  unsharedClaim,
} from "./scenarios.ts";
import { memoryService, picker } from "./upstream-scenarios.ts";

onEmbedded("a graph becomes components, Deployments, Services, Ingress and claim", graph);
onEmbedded("parts are repaired, follow the spec, and go with the graph", lives);
onEmbedded("a model with an SLA is sized, and both versions tell the same", model);
onEmbedded("a restart goes through the services in order", restart);
onEmbedded("an image is built before the services start", build);
onEmbedded("bad input is refused or reported, and works when it is fixed", badInput);
onEmbedded("a volume that cannot shrink stays as it is, and that is reported once", keepsVolume);
onEmbedded("several pods per replica ask for the LeaderWorkerSet API", multinode);
onEmbedded("with that API, a replica is a group of pods", groups);
onEmbedded("an endpoint picker has its pool, its configuration and a Service of the model", picker);
onEmbedded("a GPU memory service shares the devices of a claim", memoryService);
onEmbedded("an autoscaler owns the replicas", autoscaled);
onEmbedded("pods whose volume is attached to nodes share one that allows it, or run on one node", attachedVolumes);
onEmbedded("a claim that a single pod can use is refused for several", unsharedClaim);
