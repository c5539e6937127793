import { truncatedName } from "konverge/objects";
import type { Service } from "./service-spec.ts";

/** Labels under which dashboards and tools know the parts of a graph. */
export const GRAPH = "nvidia.com/dynamo-graph-deployment-name";
export const COMPONENT = "nvidia.com/dynamo-component";
export const COMPONENT_TYPE = "nvidia.com/dynamo-component-type";
export const NAMESPACE = "nvidia.com/dynamo-namespace";
export const SELECTOR = "nvidia.com/selector";
/** On pods: `"false"` while they answer what they were asked before they go, and are asked no more. */
export const SERVING = "nvidia.com/serving";
/** On pods: the claim they share, if its volume can be on one node alone. */
export const CLAIM = "nvidia.com/dynamo-claim";
/** On pods: which restart they belong to. */
export const RESTART = "nvidia.com/restart-id";

/** The DynamoComponentDeployment of a graph's service. */
export function componentName(graph: string, service: string): string {
  return truncatedName(`${graph}-${service.toLowerCase().replace(/[^a-z0-9-]+/g, "-")}`);
}

/** What a service is: as it says, or as its name tells. */
export function typeOf(name: string, service: Pick<Service, "componentType">): NonNullable<Service["componentType"]> {
  if (service.componentType) return service.componentType;
  const told = name.toLowerCase();
  if (told.includes("frontend")) return "frontend";
  if (/worker|prefill|decode/.test(told)) return "worker";
  return told.includes("planner") ? "planner" : "default";
}
