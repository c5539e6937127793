import { truncatedName } from "konverge/objects";
import type { Service } from "./service-spec.ts";

/** Labels under which dashboards and tools know the parts of a graph. */
export const GRAPH = "nvidia.com/dynamo-graph-deployment-name";
export const COMPONENT = "nvidia.com/dynamo-component";
export const COMPONENT_TYPE = "nvidia.com/dynamo-component-type";
export const SUB_COMPONENT_TYPE = "nvidia.com/dynamo-sub-component-type";
/** `worker` for workers of every part: an inference pool selects them by it. */
export const COMPONENT_CLASS = "nvidia.com/dynamo-component-class";
export const NAMESPACE = "nvidia.com/dynamo-namespace";
export const SELECTOR = "nvidia.com/selector";
/** On pods and headless Services: the model that they serve, as a digest, since a label cannot hold any name. */
export const BASE_MODEL_HASH = "nvidia.com/dynamo-base-model-hash";
/** The annotation with that model's name. */
export const BASE_MODEL = "nvidia.com/dynamo-base-model";
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

/** What a component is within a graph. */
export type ComponentType = "frontend" | "worker" | "prefill" | "decode" | "planner" | "epp" | "default";

/** What a service is: as it says, or as its name tells. */
export function typeOf(
  name: string,
  { componentType, subComponentType }: Pick<Service, "componentType" | "subComponentType">,
): ComponentType {
  if (componentType === "main") return "default";
  const part = subComponentType === "prefill" || subComponentType === "decode" ? subComponentType : undefined;
  if (componentType === "worker") return part ?? "worker";
  if (componentType) return componentType;
  const words = name.toLowerCase();
  if (words.includes("frontend")) return "frontend";
  if (words.includes("prefill")) return "prefill";
  if (words.includes("decode")) return "decode";
  if (words.includes("worker")) return part ?? "worker";
  return words.includes("planner") ? "planner" : "default";
}

/** Whether a component runs an engine, for all of a request or for a part of it. */
export const isWorker = (type: ComponentType): boolean => type === "worker" || type === "prefill" || type === "decode";
