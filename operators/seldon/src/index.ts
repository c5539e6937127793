/**
 * SeldonDeployments: models behind one address, as graphs of models, transformers, routers and combiners.
 *
 * A predictor is a graph; each unit of it is a container, written in `componentSpecs` or brought by a prepackaged
 * server. {@link componentsOf} puts units into pods and gives them ports, {@link childrenOf} makes Deployments and
 * Services of that under upstream's names and labels, and an orchestrator in the first pod leads requests through the
 * graph. The spec is never changed: what upstream's webhook writes into it is computed each time.
 */
export { Mapping } from "./ambassador.ts";
export * from "./components.ts";
export { GRPCRoute, HTTPRoute } from "./gateway-api.ts";
export { DestinationRule, VirtualService } from "./istio.ts";
export * from "./operator.ts";
export type { Route } from "./route.ts";
export * from "./seldon-admission.ts";
export * from "./seldon-children.ts";
export * from "./seldon-controller.ts";
export * from "./seldon-deployment.ts";
