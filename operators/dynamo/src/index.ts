/**
 * Dynamo graphs: services that serve a model together.
 *
 * Two steps, each a controller. A DynamoGraphDeployment becomes a DynamoComponentDeployment per service (the image is
 * built first, by a DynamoComponent, if asked for); each of these becomes a Deployment, or a LeaderWorkerSet, with
 * Service, Ingress, claim and autoscaler. Readiness is that of the newest revision. The spec belongs to its author (a
 * user, a GitOps tool): defaults and sizes are computed each time and never written back.
 */
export * from "./component.ts";
export * from "./component-children.ts";
export * from "./component-controller.ts";
export * from "./component-deployment.ts";
export * from "./component-deployment-controller.ts";
export { podTemplate, type Surroundings } from "./component-pod.ts";
export type { Component } from "./component-spec.ts";
export * from "./drain.ts";
export * from "./drain-plan.ts";
export * from "./graph-admission.ts";
export * from "./graph-children.ts";
export * from "./graph-controller.ts";
export * from "./graph-deployment.ts";
export { GraphMetrics } from "./graph-metrics.ts";
export * from "./graph-services.ts";
export { type Sizing, sizingOf } from "./graph-sizing.ts";
export { InferencePool } from "./inference-pool.ts";
export { SERVING } from "./names.ts";
export * from "./operator.ts";
export * from "./restart.ts";
