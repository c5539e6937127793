import { onReal } from "@konverge/operator-suite";
import { badGraphs } from "./bad-input.ts";
import { drains, drainsNoMore } from "./scaling-scenarios.ts";

onReal({
  "pods that are scaled away are asked no more, and finish what they have first": drains,
  "a pod that is wanted after all is asked again": drainsNoMore,
  "a graph with a type of GPU that no node has": badGraphs["a type of GPU that no node has"]!,
  "a graph with a quota that is exceeded": badGraphs["a quota that is exceeded"]!,
});
