import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { badGraphs as everyBadGraph, withoutNodes } from "./bad-input.ts";
import { drainsNoMore, rises } from "./scaling-scenarios.ts";

const { "a graph with more GPUs than a node has": _asInBadInput, ...badGraphs } = everyBadGraph;

onReal({
  "a pod that is wanted after all is asked again": drainsNoMore,
  "a model's workers follow the load that is measured": rises,
  ...badGraphs,
  "a graph without nodes": onEmptyCluster(withoutNodes),
});
