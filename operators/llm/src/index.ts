/**
 * The LLM operator.
 *
 * An LLMModel becomes a Deployment of inference servers with GPUs, a Service in front of them and a budget for
 * disruptions. A ModelDeployment becomes a StatefulSet whose size follows from what is promised about latency: the
 * servers' own metrics are read, a queueing model (`konverge/sizing`) turns them into a number of replicas, and that
 * becomes the bounds of an autoscaler.
 *
 * All that is made follows from the object by pure functions (`*-children.ts`, `sizing-rules.ts`); the controllers only
 * put together what they say with what is observed. What keeps replicas from coming up (no such GPU, no room, a quota,
 * an image) is read from the pods and reported as the reason of the conditions and, once, in an event.
 */
export { HTTPRoute } from "./http-route.ts";
export * from "./llm-model.ts";
export * from "./llm-model-admission.ts";
export * from "./llm-model-children.ts";
export * from "./llm-model-controller.ts";
export * from "./metrics.ts";
export * from "./model-deployment.ts";
export * from "./model-deployment-admission.ts";
export * from "./model-deployment-children.ts";
export * from "./model-deployment-controller.ts";
export * from "./operator.ts";
export { ServiceMonitor } from "./service-monitor.ts";
export { WAKE } from "./size-decision.ts";
