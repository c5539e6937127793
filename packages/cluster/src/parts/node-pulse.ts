/**
 * Which nodes are alive, for parts in the same process. A kubelet reports that it is alive by renewing a Lease every ten
 * seconds; while no client reads those Leases, thousands of writes an hour would report nothing new
 * (docs/decisions/035-simulated-nodes.md).
 */
export class NodePulse {
  readonly #alive = new Set<string>();
  /** Renews all Leases, and goes on for a while: what a kubelet does when {@link looked} says so. */
  renew: () => Promise<void> = async () => {};
  /** Resolves when the nodes are there that come with the cluster: before that, no pod can find a place. */
  nodesMade: Promise<void> = Promise.resolve();
  /** Whether a client watches the Leases now. */
  isFollowed: () => boolean = () => true;

  /** The node's kubelet lives, however old its Lease is. */
  isAlive(node: string): boolean {
    return this.#alive.has(node);
  }

  set(node: string, isAlive: boolean): void {
    if (isAlive) this.#alive.add(node);
    else this.#alive.delete(node);
  }
}
