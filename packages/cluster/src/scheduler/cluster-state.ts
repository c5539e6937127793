import type { Node } from "@konverge/kinds";
import { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

/**
 * The nodes and the pods on them, as the scheduler sees them: what the watch has delivered, and decisions that it
 * has not delivered yet ({@link assume}).
 */
export class ClusterState {
  readonly #nodes = new Map<string, NodeInfo>();
  /** Where each pod is counted, by uid. */
  readonly #placed = new Map<string, { pod: PodInfo; node: string }>();
  readonly #assumed = new Set<string>();
  readonly #nominated = new Map<string, Map<string, PodInfo>>();
  /** How many pods of an owner are on each node, for spreading. */
  readonly #owned = new Map<string, Map<string, number>>();
  /** Pods that keep others away, or draw them near: few, and asked about for every pod. */
  readonly #withTerms = new Map<string, PodInfo>();
  readonly #byNamespace = new Map<string, Map<string, PodInfo>>();
  #list: NodeInfo[] | undefined;

  /** All nodes that exist, in the order of their coming. */
  get nodes(): readonly NodeInfo[] {
    this.#list ??= [...this.#nodes.values()];
    return this.#list;
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name);
  }

  /** Pods on nodes that have terms about other pods. */
  withTerms(): Iterable<PodInfo> {
    return this.#withTerms.values();
  }

  /** Pods on nodes, of one namespace. */
  inNamespace(namespace: string): Iterable<PodInfo> {
    return this.#byNamespace.get(namespace)?.values() ?? [];
  }

  /** All pods on nodes. */
  *pods(): Iterable<PodInfo> {
    for (const { pod } of this.#placed.values()) yield pod;
  }

  placeOf(uid: string): string | undefined {
    return this.#placed.get(uid)?.node;
  }

  ownedOn(owner: string): ReadonlyMap<string, number> | undefined {
    return this.#owned.get(owner);
  }

  /** Whether there is anything new in it for pods that found no place. */
  setNode(node: Node): boolean {
    const { name } = node.metadata;
    let info = this.#nodes.get(name);
    if (!info) {
      info = new NodeInfo(name);
      this.#nodes.set(name, info);
      this.#list = undefined;
      // Pods may be observed before their node.
      for (const { pod, node: place } of this.#placed.values()) if (place === name) info.add(pod);
    }
    return info.update(node);
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
    this.#list = undefined;
  }

  /** The watch reports that a pod is on a node. */
  setPod(pod: PodInfo): void {
    this.#assumed.delete(pod.uid);
    this.#put(pod, pod.nodeName);
  }

  /** A pod will be on a node: it counts from now on. */
  assume(pod: PodInfo, node: string): void {
    this.#assumed.add(pod.uid);
    this.#put(pod, node);
  }

  /** It came to nothing. */
  forget(pod: PodInfo): void {
    if (this.#assumed.delete(pod.uid)) this.removePod(pod.uid);
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid);
  }

  removePod(uid: string): boolean {
    const placed = this.#placed.get(uid);
    this.#assumed.delete(uid);
    if (!placed) return false;
    const { pod, node } = placed;
    this.#placed.delete(uid);
    this.#withTerms.delete(uid);
    this.#byNamespace.get(pod.namespace)?.delete(uid);
    this.#nodes.get(node)?.remove(pod);
    this.#countOwned(pod, node, -1);
    return true;
  }

  /** Reserves a node for a pod until its preemption victims are deleted. */
  nominate(pod: PodInfo, node: string): void {
    this.removeNomination(pod.uid);
    let pods = this.#nominated.get(node);
    if (!pods) {
      pods = new Map();
      this.#nominated.set(node, pods);
    }
    pods.set(pod.uid, pod);
  }

  removeNomination(uid: string): void {
    for (const [node, pods] of this.#nominated) {
      if (pods.delete(uid) && pods.size === 0) this.#nominated.delete(node);
    }
  }

  /** Whether room is kept for any pod, anywhere. */
  get hasNominated(): boolean {
    return this.#nominated.size > 0;
  }

  nominatedOn(node: string): Iterable<PodInfo> {
    return this.#nominated.get(node)?.values() ?? [];
  }

  #put(pod: PodInfo, node: string): void {
    const before = this.#placed.get(pod.uid);
    if (before) {
      this.#nodes.get(before.node)?.remove(before.pod);
      this.#countOwned(before.pod, before.node, -1);
    }
    this.#placed.set(pod.uid, { pod, node });
    this.#nodes.get(node)?.add(pod);
    this.#countOwned(pod, node, 1);
    if (pod.affinity.length + pod.antiAffinity.length + pod.preferred.length > 0) this.#withTerms.set(pod.uid, pod);
    else this.#withTerms.delete(pod.uid);
    let mates = this.#byNamespace.get(pod.namespace);
    if (!mates) {
      mates = new Map();
      this.#byNamespace.set(pod.namespace, mates);
    }
    mates.set(pod.uid, pod);
  }

  #countOwned({ owner }: PodInfo, node: string, change: number): void {
    if (owner === "") return;
    let counts = this.#owned.get(owner);
    if (!counts) {
      counts = new Map();
      this.#owned.set(owner, counts);
    }
    const count = (counts.get(node) ?? 0) + change;
    if (count > 0) counts.set(node, count);
    else counts.delete(node);
    if (counts.size === 0) this.#owned.delete(owner);
  }
}
