import type { Client } from "@konverge/client";
import { type Clock, isAlreadyExists, type QuantityValue, timestamp } from "@konverge/core";
import { Node, type NodeCondition, type NodeStatus } from "@konverge/kinds";
import { MANAGED_ATTACHING } from "../controllers/volume/attachable.ts";
import { SIMULATION_ANNOTATION_PREFIX } from "../images/behavior.ts";
import { RUNTIME } from "../parts/simulated-node.ts";
import type { NodeShape } from "./node-shape.ts";

/** Set to `stopped` on a Node, its kubelet falls silent: no heartbeats, and nothing happens to its pods. */
export const KUBELET_ANNOTATION = `${SIMULATION_ANNOTATION_PREFIX}kubelet`;
const VERSION = "v1.36.3";
const ANNOTATIONS = { [MANAGED_ATTACHING]: "true" };
const FALLBACK = { cpu: "32", memory: "128Gi", pods: "110", "ephemeral-storage": "500Gi" };

/** A node's place among the cluster's addresses. */
export interface NodeAddress {
  readonly hostIP: string;
  /** The first three numbers of its pods' addresses. */
  readonly podPrefix: string;
}

export function addressOf(index: number): NodeAddress {
  const [high, low] = [Math.floor(index / 256), index % 256];
  return { hostIP: `172.${18 + high}.${low}.1`, podPrefix: `10.${244 + high}.${low}` };
}

/** Makes the Node of a shape. */
export async function createNode(client: Client, clock: Clock, shape: NodeShape, index: number): Promise<void> {
  const { name, labels, taints, capacity } = shape;
  const { podPrefix } = addressOf(index);
  const podCIDR = `${podPrefix}.0/24`;
  try {
    await client.create(Node, {
      metadata: {
        name,
        labels: {
          "kubernetes.io/hostname": name,
          "kubernetes.io/os": "linux",
          "kubernetes.io/arch": "amd64",
          "beta.kubernetes.io/os": "linux",
          "beta.kubernetes.io/arch": "amd64",
          ...labels,
        },
        annotations: ANNOTATIONS,
      },
      spec: { podCIDR, podCIDRs: [podCIDR], ...(taints?.length && { taints: [...taints] }) },
      status: nodeStatus(clock, name, index, capacity),
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Whether a Node reports that it is up; one that a user has created does not yet. */
export function isUp({ metadata, status }: Node): boolean {
  const isReady = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True");
  const isManaged = metadata.annotations?.[MANAGED_ATTACHING] !== undefined;
  return Boolean(isReady && isManaged && status?.allocatable && status.addresses?.length);
}

/** Reports a Node as up: with the capacity of its shape, or the one that its creator has set. */
export async function reportUp(
  client: Client,
  clock: Clock,
  node: Node,
  index: number,
  shape?: NodeShape,
): Promise<void> {
  const given = shape?.capacity ?? node.status?.capacity ?? node.status?.allocatable;
  const status = nodeStatus(clock, node.metadata.name, index, given ?? FALLBACK);
  await client.patchStatus(Node, node.metadata.name, { strategic: { metadata: { annotations: ANNOTATIONS }, status } });
}

/** What a node has before it has reported anything: the capacity of its shape, or that of nodes without one. */
export function capacityOf(shape: NodeShape | undefined): Readonly<Record<string, string>> {
  return shape?.capacity ?? FALLBACK;
}

export function isSilent({ metadata }: Node): boolean {
  return metadata.annotations?.[KUBELET_ANNOTATION] === "stopped";
}

function nodeStatus(
  clock: Clock,
  name: string,
  index: number,
  capacity: Readonly<Record<string, QuantityValue>>,
): NodeStatus {
  const now = timestamp(clock);
  const condition = (type: string, status: "True" | "False", reason: string, message: string): NodeCondition => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  const { hostIP } = addressOf(index);
  const id = name
    .replace(/[^a-z0-9]/g, "")
    .padEnd(32, "0")
    .slice(0, 32);
  return {
    capacity: { ...capacity },
    allocatable: { ...capacity },
    conditions: [
      condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
      condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
      condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
      condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ],
    addresses: [
      { type: "InternalIP", address: hostIP },
      { type: "Hostname", address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: id,
      systemUUID: id,
      bootID: id,
      kernelVersion: "simulated",
      osImage: "Konverge simulated node",
      containerRuntimeVersion: `${RUNTIME}0.1.0`,
      kubeletVersion: VERSION,
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    },
  };
}
