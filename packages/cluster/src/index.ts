/**
 * A Kubernetes cluster in one process: the embedded API server, the built-in controllers and simulated nodes on which pods
 * run without containers.
 *
 * {@link startCluster} makes an API server and a {@link ControlPlane}: a list of {@link Part}s, each of which starts with
 * the first object of a kind it cares for, so that an unused cluster costs next to nothing. Parts are ordinary
 * Konverge controllers, or loops over the same cache and queue where a controller of one kind does not fit (the garbage
 * collector). Everything reaches the state through the API server, and time through the clock: on a virtual one, the same
 * seed gives the same cluster, event for event.
 *
 * Containers are simulated. What one runs is a program of this machine if its image is registered as one, is interpreted in
 * memory (`userland/`: a shell, commands, files, a network) if all it uses is known, and else only seems to run. Whatever an
 * interpreted container does, it can neither stall nor exhaust the process that it shares with the API server.
 *
 * It promises to do what kube-controller-manager does: the same objects, names, conditions and events.
 */

export { AdjustableClock } from "@konverge/core";
export { CONTROL_PLANE_COMPONENTS } from "./control-plane-components.ts";
export { BUILT_IN_CONTROLLERS } from "./controllers/controllers.ts";
export {
  type BootstrapTokenOptions,
  createBootstrapToken,
} from "./controllers/node-bootstrap/bootstrap-token.ts";
export { type ContainerBehavior, SIMULATION_ANNOTATION_PREFIX } from "./images/behavior.ts";
export { type ChildProgramOptions, childProgram } from "./images/child-program.ts";
export { type ContainerChild, runChild } from "./images/container-child.ts";
export type { ContainerProcess, ExecSession, Image, ImagesOptions, Program } from "./images/image.ts";
export { Kubelet, type KubeletOptions } from "./kubelet/kubelet.ts";
export { DEFAULT_NODES, gpuNodes, type NodeShape, parseGpuNodes, plainNodes } from "./kubelet/node-shape.ts";
export { ControlPlane, type ControlPlaneOptions } from "./parts/control-plane.ts";
export {
  type ComponentContext,
  type ControlPlaneComponent,
  controllersComponent,
  type LocalVolumes,
  type RunningComponent,
} from "./parts/part.ts";
export { type ServedKind, ServedKinds } from "./parts/served-kinds.ts";
export { callWebhook } from "./port/call-webhook.ts";
export { type ClusterPort, openPort, type PortOptions } from "./port/open-port.ts";
export { NotSettledError, type SettledOptions } from "./rest/settled.ts";
export * from "./start-cluster.ts";
export { liveState, timeOf } from "./state/live-state.ts";
export type { LocalAddress } from "./streams/exposed-ports.ts";
export type { PortConnection } from "./streams/pod-network.ts";
export { FileError, type FileErrorCode } from "./userland/file-error.ts";
export type { FileStat, FileSystem, FileUser, Mount } from "./userland/file-system.ts";
export type { Holding } from "./userland/limits/memory.ts";
export type { ContainerNetwork, DnsRecord } from "./userland/network.ts";
export type { Command, Process, Room, SpawnOptions, Streams } from "./userland/process.ts";
