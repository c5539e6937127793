import type { Node, Pod, Toleration } from "@konverge/kinds";
import { matchesNodeAffinity, tolerates } from "../controllers/node/node-matching.ts";
import { hostPortsOf, portsClash } from "../scheduler/host-ports.ts";
import { type Amounts, addAmounts, amountsOf, requestsOf } from "../scheduler/requests.ts";
import type { Room } from "./resize.ts";
import { sysctlProblem } from "./sysctls.ts";

/** Why a node does not admit a pod that is bound to it. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/** What simulated nodes run. */
const OS = "linux";
const OS_LABEL = "kubernetes.io/os";
/** Those that come before all others when several are short. */
const FIRST_RESOURCES = ["cpu", "memory", "ephemeral-storage"];

/**
 * Decides whether a node admits a pod, in the order and with the messages of a kubelet. The scheduler checks most of this
 * before; a pod that names its node itself has bypassed it.
 */
export function rejectionOf(pod: Pod, node: Node | undefined, room: Room): Rejection | undefined {
  const sysctl = sysctlProblem(pod);
  if (sysctl) return { reason: "SysctlForbidden", message: sysctl };
  if ((pod.metadata.labels?.[OS_LABEL] ?? OS) !== OS) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: "PodOSSelectorNodeLabelDoesNotMatch", message };
  }
  if ((pod.spec?.os?.name ?? OS) !== OS)
    return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
  const others = [...room.others].filter(({ metadata, status }) => {
    const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
    return !isOver && metadata.uid !== pod.metadata.uid;
  });
  const short = shortResource(pod, amountsOf(room.allocatable), others);
  if (short) return short;
  const { name = "", labels = {} } = node?.metadata ?? {};
  const { nodeSelector, affinity, tolerations = [] } = pod.spec ?? {};
  if (node && !matchesNodeAffinity({ nodeSelector, nodeAffinity: affinity?.nodeAffinity }, { name, labels }))
    return failedPredicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  const ports = hostPortsOf(pod);
  if (ports.length > 0 && others.some((other) => portsClash(ports, hostPortsOf(other))))
    return failedPredicate("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  if (isDrivenAway(node, tolerations))
    return failedPredicate("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  return undefined;
}

function failedPredicate(reason: string, why: string): Rejection {
  return { reason, message: `Predicate ${reason} failed: ${why}` };
}

function isDrivenAway(node: Node | undefined, tolerations: readonly Toleration[]): boolean {
  const taints = node?.spec?.taints?.filter(({ effect }) => effect === "NoExecute");
  return taints?.some((taint) => !tolerates(tolerations, taint)) ?? false;
}

/** The first resource of which the node has too little left. Extended resources that a node does not have are not its own. */
function shortResource(pod: Pod, total: Amounts, others: readonly Pod[]): Rejection | undefined {
  const slots = total.get("pods") ?? 0;
  if (others.length + 1 > slots) return outOf("pods", 1, others.length, slots);
  const requested = requestsOf(pod);
  if (![...requested.values()].some((amount) => amount > 0)) return undefined;
  const used: Amounts = new Map();
  for (const other of others) addAmounts(used, requestsOf(other));
  for (const resource of new Set([...FIRST_RESOURCES, ...requested.keys()])) {
    const [amount = 0, taken = 0, capacity] = [requested.get(resource), used.get(resource), total.get(resource)];
    if (capacity === undefined && resource.includes("/")) continue;
    if (amount > 0 && amount > (capacity ?? 0) - taken) return outOf(resource, amount, taken, capacity ?? 0);
  }
  return undefined;
}

function outOf(resource: string, requested: number, used: number, capacity: number): Rejection {
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message };
}
