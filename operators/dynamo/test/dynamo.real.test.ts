import { dynamoOperator } from "@konverge/dynamo-operator";
import { onReal } from "@konverge/operator-suite";
import { buildQuota } from "./bad-input.ts";
import { drainsAndTells } from "./scaling-scenarios.ts";
import { autoscaled, badInput, build, component, graph, groups, lives, model, restart } from "./scenarios.ts";
import { memoryService, picker } from "./upstream-scenarios.ts";

onReal(
  {
    "a graph becomes components, Deployments, Services, Ingress and claim": graph,
    "parts are repaired, follow the spec, and go with the graph": lives,
    "a model with an SLA is sized, and both versions tell the same": model,
    "a restart goes through the services in order": restart,
    "an image is built before the services start": build,
    "an image for whose build a quota leaves no room": buildQuota,
    "an autoscaler owns the replicas": autoscaled,
    "a component that somebody writes by hand": component,
    "with the LeaderWorkerSet API, a replica is a group of pods": groups,
    "an endpoint picker has its pool, its configuration and a Service of the model": picker,
    "a GPU memory service shares the devices of a claim": memoryService,
    "pods that are scaled away finish what they have first": drainsAndTells,
    "bad input is refused or reported, and works when it is fixed": badInput,
  },
  { role: dynamoOperator },
);
