import { onEmbedded } from "@konverge/operator-suite";
import { autoscaled, badInput, build, graph, groups, lives, model, multinode, restart } from "./scenarios.ts";

onEmbedded("a graph becomes components, Deployments, Services, Ingress and claim", graph);
onEmbedded("parts are repaired, follow the spec, and go with the graph", lives);
onEmbedded("a model with an SLA is sized, and both versions tell the same", model);
onEmbedded("a restart goes through the services in order", restart);
onEmbedded("an image is built before the services start", build);
onEmbedded("bad input is refused or reported, and recovers when mended", badInput);
onEmbedded("several pods per replica ask for the LeaderWorkerSet API", multinode);
onEmbedded("with that API, a replica is a group of pods", groups);
onEmbedded("an autoscaler owns the replicas", autoscaled);
