import { isRepelled, matchesNodeAffinity } from "../controllers/node/node-matching.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo, SpreadTerm } from "./pod-info.ts";

interface Domains {
  readonly term: SpreadTerm;
  readonly counts: Map<string, number>;
  /** A pod that a term selects itself adds to the skew it causes. */
  readonly own: number;
}

/** A pod's topology spread constraints, evaluated against the pods that are already placed. */
export class SpreadRules {
  readonly #required: Domains[];
  readonly #soft: Domains[];

  constructor(pod: PodInfo, state: ClusterState) {
    const domains = pod.spread.map((term) => domainsOf(pod, term, state));
    this.#required = domains.filter(({ term }) => term.isRequired);
    this.#soft = domains.filter(({ term }) => !term.isRequired);
  }

  /** Takes a pod away in thought, or puts it back. */
  change(other: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    for (const { term, counts } of this.#required) {
      const value = node.labels[term.topologyKey];
      if (value !== undefined && counts.has(value) && term.matches(other)) counts.set(value, counts.get(value)! + sign);
    }
  }

  /** Why the pod may not be on a node. */
  refuses(node: NodeInfo): { reason: string; unresolvable: boolean } | undefined {
    for (const { term, counts, own } of this.#required) {
      const value = node.labels[term.topologyKey];
      if (value === undefined) {
        return {
          reason: "node(s) didn't match pod topology spread constraints (missing required label)",
          unresolvable: true,
        };
      }
      const least = counts.size < term.minDomains ? 0 : Math.min(...counts.values());
      const skew = (counts.get(value) ?? 0) + own - least;
      if (skew > term.maxSkew) {
        return { reason: "node(s) didn't match pod topology spread constraints", unresolvable: false };
      }
    }
    return undefined;
  }

  get hasSoftConstraints(): boolean {
    return this.#soft.length > 0;
  }

  /** How crowded a node's domains are: less is better. */
  crowding(node: NodeInfo): number {
    let sum = 0;
    for (const { term, counts } of this.#soft) {
      const value = node.labels[term.topologyKey];
      sum += value === undefined ? 1e6 : (counts.get(value) ?? 0) * Math.log(counts.size + 2) + (term.maxSkew - 1);
    }
    return sum;
  }
}

function domainsOf(pod: PodInfo, term: SpreadTerm, state: ClusterState): Domains {
  const counts = new Map<string, number>();
  const eligible = new Set<string>();
  for (const node of state.nodes) {
    const value = node.labels[term.topologyKey];
    if (value === undefined) continue;
    if (term.honorsAffinity && !matchesNodeAffinity(pod, node)) continue;
    if (term.honorsTaints && isRepelled(pod, node)) continue;
    eligible.add(node.name);
    if (!counts.has(value)) counts.set(value, 0);
  }
  for (const other of state.inNamespace(pod.namespace)) {
    const place = state.placeOf(other.uid) ?? "";
    if (!eligible.has(place) || !term.matches(other)) continue;
    const value = state.node(place)!.labels[term.topologyKey]!;
    counts.set(value, counts.get(value)! + 1);
  }
  return { term, counts, own: term.matches(pod) ? 1 : 0 };
}
