/**
 * Ray clusters: a head, and groups of workers that join it, under upstream's names, labels, ports and variables.
 *
 * {@link startCommand} turns parameters and limits into the command of a node, {@link headPodFor} and {@link workerPodsFor}
 * make pods of it, {@link rayClusters} keeps them. Pods have fixed names, so that a crash in the middle of a scale-up neither
 * doubles nor forgets any. Where Ray's own autoscaler is asked for, {@link autoscalerContainer} runs beside the head; it writes
 * the groups' sizes and names who goes, and the controller follows as it follows any user.
 *
 * {@link rayJobs} runs a job on a dedicated cluster: a Kubernetes Job submits it ({@link submitterFor}).
 * {@link rayServices} sends applications of Ray Serve to a cluster, and replaces it without downtime.
 */
export type { RayFetch } from "./dashboard-request.ts";
export * from "./gcs-fault-tolerance.ts";
export * from "./operator.ts";
export * from "./ray-admission.ts";
export * from "./ray-auth.ts";
export * from "./ray-autoscaler.ts";
export * from "./ray-children.ts";
export * from "./ray-cluster.ts";
export { rayClusters } from "./ray-controller.ts";
export * from "./ray-cron-job.ts";
export { rayCronJobs } from "./ray-cron-job-controller.ts";
export * from "./ray-job.ts";
export * from "./ray-job-children.ts";
export * from "./ray-job-controller.ts";
export { RayMetrics } from "./ray-metrics.ts";
export * from "./ray-network-policy.ts";
export * from "./ray-origin.ts";
export * from "./ray-service.ts";
export * from "./ray-service-children.ts";
export { rayServices } from "./ray-service-controller.ts";
export * from "./ray-status.ts";
export * from "./redis-cleanup.ts";
export * from "./serve-applications.ts";
export * from "./start-command.ts";
