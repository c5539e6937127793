/**
 * Real nodes for tests: {@link NodeCluster} starts an embedded control plane with two of them, as `konverge up --real-nodes 2`
 * does, or a real one, and loads images that are made here out of Debian packages, because there is no registry.
 */
export type { DebianImage } from "./images/debian-image.ts";
export { busybox, SHELL_TOOLS, SYSTEM_PATH } from "./images/server-images.ts";
export { NodeCluster, type NodeClusterOptions } from "./node-cluster.ts";
export { restrictedPod } from "./pods.ts";
export { whyNoRealNodes } from "./requirements.ts";
export { now, timed, until } from "./waiting.ts";
