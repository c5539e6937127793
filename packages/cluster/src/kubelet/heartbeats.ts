import type { Client } from "@konverge/client";
import { type Clock, isAlreadyExists, microTimestamp, type ObjectMeta, type Timer } from "@konverge/core";
import { Lease, Node } from "@konverge/kinds";
import type { NodePulse } from "../parts/node-pulse.ts";

/** Where nodes have their Leases. */
export const LEASE_NAMESPACE = "kube-node-lease";
const RENEW = 10_000;
const LEASE_SECONDS = 40;
/** Milliseconds for which Leases are renewed after they were read. */
const ATTENTION = 300_000;

/** The Leases of nodes: renewed while they are read or watched, when a node becomes ready and when it stops reporting. */
export class Heartbeats {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #pulse: NodePulse;
  readonly #names: () => Iterable<string>;
  readonly #known = new Set<string>();
  #timer: Timer | undefined;
  #isBeating = false;
  #readAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(client: Client, clock: Clock, pulse: NodePulse, names: () => Iterable<string>) {
    this.#client = client;
    this.#clock = clock;
    this.#pulse = pulse;
    this.#names = names;
    pulse.renew = () => this.#renewOnRead();
    // A watch that began before the nodes existed is reported only once.
    this.#wait();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#pulse.renew = async () => {};
  }

  /** Renews the Lease of a node, or creates it. A failed renewal is retried at the next interval. */
  async renew(name: string): Promise<void> {
    if (this.#stopped) return;
    await this.#write(name).catch(() => {
      // It may have been deleted.
      this.#known.delete(name);
      return this.#write(name).catch(() => this.#known.delete(name));
    });
  }

  async #renewOnRead(): Promise<void> {
    this.#readAt = this.#clock.monotonic();
    // While they are renewed periodically, they are recent enough.
    if (!this.#isBeating) await this.#beat();
  }

  async #beat(): Promise<void> {
    this.#isBeating = true;
    this.#wait();
    for (const name of this.#names()) await this.renew(name);
  }

  #wait(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(RENEW, () => void this.#again(), { background: true, label: "heartbeats" });
  }

  async #again(): Promise<void> {
    this.#isBeating = false;
    const isFresh = this.#clock.monotonic() - this.#readAt < ATTENTION;
    if (!this.#stopped && (isFresh || this.#pulse.isFollowed())) await this.#beat();
  }

  async #write(name: string): Promise<void> {
    const renewTime = microTimestamp(this.#clock);
    if (this.#known.has(name)) {
      await this.#client.patch(Lease, `${LEASE_NAMESPACE}/${name}`, { merge: { spec: { renewTime } } });
      return;
    }
    this.#known.add(name);
    const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
    const owned = await this.#owned(name);
    try {
      await this.#client.create(Lease, { metadata: { name, namespace: LEASE_NAMESPACE, ...owned }, spec });
    } catch (error) {
      // The node is older than this process.
      if (!isAlreadyExists(error)) throw error;
      await this.#client.patch(Lease, `${LEASE_NAMESPACE}/${name}`, { merge: { metadata: owned, spec } });
    }
  }

  /** The Lease is garbage-collected with its node. */
  async #owned(name: string): Promise<Pick<ObjectMeta, "ownerReferences">> {
    const { uid } = (await this.#client.get(Node, name)).metadata;
    return { ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid: uid! }] };
  }
}
