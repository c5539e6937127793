/**
 * Ray clusters: a head, and groups of workers that join it, under upstream's names, labels, ports and variables.
 *
 * {@link startCommand} turns parameters and limits into the command of a node, {@link headPodFor} and {@link workerPodsFor}
 * make pods of it, {@link rayClusters} keeps them. Pods have fixed names, so that a crash in the middle of a scale-up neither
 * doubles nor forgets any.
 */
export * from "./operator.ts";
export * from "./ray-admission.ts";
export * from "./ray-children.ts";
export * from "./ray-cluster.ts";
export * from "./ray-controller.ts";
export * from "./ray-status.ts";
export * from "./start-command.ts";
