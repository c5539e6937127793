import type { ClusterState } from "./cluster-state.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

/** How many pods meet a term, by the value of its topology key. */
type Counts = Map<string, number>;

/**
 * What the pods that are there mean for one that is to be placed: where they keep it away, where it wants to be near them
 * or far from them. Made once for a pod, and kept right while pods are taken away in thought (preemption).
 */
export class InterPodRules {
  readonly #pod: PodInfo;
  readonly #repelled = new Map<string, Counts>();
  readonly #near: Counts[];
  readonly #far: Counts[];
  readonly #preferred = new Map<string, Counts>();
  #matches = 0;

  constructor(pod: PodInfo, state: ClusterState) {
    this.#pod = pod;
    this.#near = pod.affinity.map(() => new Map());
    this.#far = pod.antiAffinity.map(() => new Map());
    for (const other of state.withTerms()) this.#countTheirs(other, state.node(state.placeOf(other.uid) ?? ""), 1);
    if (pod.affinity.length + pod.antiAffinity.length + pod.preferred.length === 0) return;
    for (const other of state.pods()) this.#countOurs(other, state.node(state.placeOf(other.uid) ?? ""), 1);
  }

  /** Nothing here says anything about this pod. */
  get isEmpty(): boolean {
    return this.#repelled.size === 0 && this.#near.length + this.#far.length === 0;
  }

  /** Takes a pod away in thought, or puts it back. */
  change(other: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    if (other.antiAffinity.length + other.preferred.length > 0) this.#countTheirs(other, node, sign);
    this.#countOurs(other, node, sign);
  }

  /** Why the pod may not be on a node. */
  refuses(node: NodeInfo): { reason: string; unresolvable: boolean } | undefined {
    const { affinity, antiAffinity } = this.#pod;
    if (!affinity.every((term, i) => (this.#near[i]!.get(node.labels[term.topologyKey] ?? "\0") ?? 0) > 0)) {
      // The first pod of a group with affinity to itself has no other pod to be near yet.
      const isFirst = this.#matches === 0 && affinity.every((term) => term.matches(this.#pod));
      const hasKeys = affinity.every((term) => node.labels[term.topologyKey] !== undefined);
      if (!isFirst || !hasKeys) return { reason: "node(s) didn't match pod affinity rules", unresolvable: true };
    }
    if (antiAffinity.some((term, i) => (this.#far[i]!.get(node.labels[term.topologyKey] ?? "\0") ?? 0) > 0)) {
      return { reason: "node(s) didn't match pod anti-affinity rules", unresolvable: false };
    }
    for (const [key, counts] of this.#repelled) {
      if ((counts.get(node.labels[key] ?? "\0") ?? 0) > 0) {
        return { reason: "node(s) didn't satisfy existing pods anti-affinity rules", unresolvable: false };
      }
    }
    return undefined;
  }

  /** How much the pod, and those that are there, would like it to be on a node. */
  preference(node: NodeInfo): number {
    let sum = 0;
    for (const [key, counts] of this.#preferred) sum += counts.get(node.labels[key] ?? "\0") ?? 0;
    return sum;
  }

  #countTheirs(other: PodInfo, node: NodeInfo | undefined, sign: number): void {
    if (!node) return;
    for (const term of other.antiAffinity) {
      if (term.matches(this.#pod)) add(this.#repelled, term.topologyKey, node, sign);
    }
    for (const term of other.affinity) if (term.matches(this.#pod)) add(this.#preferred, term.topologyKey, node, sign);
    for (const term of other.preferred) {
      if (term.matches(this.#pod)) add(this.#preferred, term.topologyKey, node, sign * term.weight);
    }
  }

  #countOurs(other: PodInfo, node: NodeInfo | undefined, sign: number): void {
    const { affinity, antiAffinity, preferred } = this.#pod;
    if (!node) return;
    if (affinity.length > 0 && affinity.every((term) => term.matches(other))) {
      this.#matches += sign;
      for (const [i, { topologyKey }] of affinity.entries()) count(this.#near[i]!, node.labels[topologyKey], sign);
    }
    for (const [i, term] of antiAffinity.entries()) {
      if (term.matches(other)) count(this.#far[i]!, node.labels[term.topologyKey], sign);
    }
    for (const term of preferred) {
      if (term.matches(other)) add(this.#preferred, term.topologyKey, node, sign * term.weight);
    }
  }
}

function add(counts: Map<string, Counts>, key: string, node: NodeInfo, change: number): void {
  let values = counts.get(key);
  if (!values) {
    values = new Map();
    counts.set(key, values);
  }
  count(values, node.labels[key], change);
}

function count(counts: Counts, value: string | undefined, change: number): void {
  if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + change);
}
