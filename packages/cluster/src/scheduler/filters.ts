import { isRepelled, matchesNodeAffinity, tolerates } from "../controllers/node/node-matching.ts";
import type { ClusterState } from "./cluster-state.ts";
import { ExclusiveClaims } from "./exclusive-claims.ts";
import { InterPodRules } from "./inter-pod.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import { SpreadRules } from "./spread-rules.ts";
import type { VolumeRules } from "./volumes.ts";

/** Why a pod cannot be on a node; unresolvable when no other pod's going would change that. */
export interface Refusal {
  readonly reasons: readonly string[];
  readonly unresolvable: boolean;
}

const UNSCHEDULABLE = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;

const IN_USE =
  "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";

const NONE: readonly PodInfo[] = [];

const refusal = (reason: string, unresolvable = false): Refusal => ({ reasons: [reason], unresolvable });

/** Judges nodes for one pod, in the order and with the words of kube-scheduler's filters. */
export class Filters {
  readonly pod: PodInfo;
  readonly interPod: InterPodRules;
  readonly spread: SpreadRules;
  readonly exclusive: ExclusiveClaims;
  readonly #state: ClusterState;
  readonly #volumes: VolumeRules | undefined;
  readonly #wanted: readonly (readonly [resource: string, amount: number])[];

  constructor(pod: PodInfo, state: ClusterState, volumes: VolumeRules | undefined) {
    this.pod = pod;
    this.#state = state;
    this.#volumes = volumes;
    this.#wanted = [...pod.requests].filter(([, amount]) => amount !== 0);
    this.interPod = new InterPodRules(pod, state);
    this.spread = new SpreadRules(pod, state);
    this.exclusive = new ExclusiveClaims(pod, volumes?.exclusive ?? [], state);
  }

  /** Why the pod cannot be on this node; undefined when it can. */
  judge(node: NodeInfo): Refusal | undefined {
    const { pod } = this;
    if (node.unschedulable && !tolerates(pod.tolerations, UNSCHEDULABLE)) {
      return refusal("node(s) were unschedulable", true);
    }
    if (isRepelled(pod, node)) return refusal("node(s) had untolerated taint(s)", true);
    if (!matchesNodeAffinity(pod, node)) return refusal("node(s) didn't match Pod's node affinity/selector", true);
    if (pod.hostPorts.some((port) => node.hasPort(port))) {
      return refusal("node(s) didn't have free ports for the requested pod ports");
    }
    const short = this.#resources(node);
    if (short) return short;
    if (this.exclusive.areTaken) return refusal(IN_USE);
    const volumes = this.#volumes?.refuses(node);
    if (volumes) return refusal(volumes, true);
    const found = this.spread.refuses(node) ?? (this.interPod.isEmpty ? undefined : this.interPod.refuses(node));
    return found && refusal(found.reason, found.unresolvable);
  }

  #resources(node: NodeInfo): Refusal | undefined {
    const reasons: string[] = [];
    let unresolvable = false;
    const kept = this.#keptOn(node);
    const room = node.allocatable.get("pods") ?? 0;
    if (node.pods.size + kept.length + 1 > room) reasons.push("Too many pods");
    for (const [resource, wanted] of this.#wanted) {
      const total = node.allocatable.get(resource) ?? 0;
      let used = node.requested.get(resource) ?? 0;
      for (const other of kept) used += other.requests.get(resource) ?? 0;
      if (wanted <= total - used) continue;
      reasons.push(`Insufficient ${resource}`);
      unresolvable ||= wanted > total;
    }
    return reasons.length === 0 ? undefined : { reasons, unresolvable };
  }

  /** Pods that are at least as important and for which room is kept: it is not there for others. */
  #keptOn(node: NodeInfo): readonly PodInfo[] {
    if (!this.#state.hasNominated) return NONE;
    const { uid, priority } = this.pod;
    return [...this.#state.nominatedOn(node.name)].filter((other) => other.uid !== uid && other.priority >= priority);
  }
}

/** `0/3 nodes are available: 1 Insufficient memory, 2 node(s) had untolerated taint(s).` */
export function refusalText(nodes: number, refusals: Iterable<readonly string[]>): string {
  const counts = new Map<string, number>();
  for (const reasons of refusals) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const parts = Array.from(counts, ([reason, count]) => `${count} ${reason}`).sort(byBytes);
  return `0/${nodes} nodes are available:${parts.length > 0 ? ` ${parts.join(", ")}.` : ""}`;
}

const byBytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
