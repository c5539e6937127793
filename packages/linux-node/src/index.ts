/**
 * Real nodes on a Linux machine: containerd, kubelet and kube-proxy, joined to an embedded control plane.
 *
 * A node is a tree of processes in PID, mount, network, UTS and IPC namespaces and in its own control groups ({@link
 * startLinuxNode}). Its namespaces end with its first process, and with them its mounts, links and rules. What is made
 * outside of them (control groups, a link, a bridge for all nodes of a cluster, a few rules, the machine's ip_forward)
 * is recorded before it is made, and {@link removeLinuxNodes} removes it, also after everything was killed.
 *
 * It uses the machine's programs and its kernel: it is for development and tests, and confines no hostile code.
 */
export { closeNetwork, findNetwork, type NodeNetwork, networkOf, openNetwork } from "./bridge.ts";
export { type Hierarchies, hierarchies, processesIn } from "./control-groups.ts";
export {
  findLinuxNodes,
  importImage,
  type LinuxNode,
  type LinuxNodeOptions,
  removeLinuxNode,
  removeLinuxNodes,
  startLinuxNode,
} from "./linux-node.ts";
export { PAUSE_IMAGE, VOLUMES } from "./node-files.ts";
export {
  findPrograms,
  KUBERNETES_VERSION,
  MissingPrerequisites,
  type NodePrograms,
  nodeCacheFolder,
  type ProgramChoice,
} from "./prerequisites.ts";
export { volumesOf } from "./volumes.ts";
