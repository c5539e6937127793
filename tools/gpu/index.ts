/**
 * The GPU lane: operators and real workloads on a GPU of this machine, without images and without a network. A container of the
 * lane has hardly any file itself: its runtime ({@link writeRuntime}) mounts the machine's own /usr and /opt, and the GPU's device files.
 * {@link pack} writes what such a machine lacks: Node, Konverge, the programs of a node and NVIDIA's device plugin.
 */
export { checkMachine } from "./checks.ts";
export { buildDevicePlugin } from "./device-plugin.ts";
export { writeRuntime } from "./machine-images.ts";
export { pack } from "./pack.ts";
export { findMachine, whyNoGpu } from "./requirements.ts";
