import type { ClusterState } from "./cluster-state.ts";
import type { PodInfo } from "./pod-info.ts";

/** The claims of a pod with the access mode ReadWriteOncePod, and the pods that already use them. */
export class ExclusiveClaims {
  readonly #claims: ReadonlySet<string>;
  readonly #pod: PodInfo;
  #uses = 0;

  constructor(pod: PodInfo, claims: readonly string[], state: ClusterState) {
    this.#pod = pod;
    this.#claims = new Set(claims);
    if (claims.length > 0) for (const other of state.inNamespace(pod.namespace)) this.change(other, 1);
  }

  /** Whether another pod uses one of them. */
  get areTaken(): boolean {
    return this.#uses > 0;
  }

  /** A pod comes to a node (1), or leaves it (-1). */
  change(other: PodInfo, sign: 1 | -1): void {
    if (this.#claims.size === 0 || other.namespace !== this.#pod.namespace || other.uid === this.#pod.uid) return;
    for (const claim of other.claims) if (this.#claims.has(claim)) this.#uses += sign;
  }
}
