import { fnv1a32, keyOf, type ObjectKey } from "@konverge/core";
import { Lease } from "@konverge/kinds";
import { Heartbeat } from "./heartbeat.ts";
import type { Election, ElectionContext } from "./leader.ts";
import { LeaseClaim, type LeaseClaimOptions } from "./lease-claim.ts";
import { LeaseSightings } from "./lease-sightings.ts";

export interface ShardingOptions {
  /** The prefix of the Leases' names, the same for all replicas. */
  name: string;
  /** Their namespace. Default: the client's. */
  namespace?: string;
  /** The number of shards: at least the maximum number of replicas, and the same for all replicas. Default: 16. */
  parts?: number;
  /** How long a lease is valid without renewal, in milliseconds. Default: 15 s. */
  duration?: number;
}

const DEFAULT_DURATION = 15_000;
const DEFAULT_PARTS = 16;
/** Leases of one group of replicas. */
const GROUP_LABEL = "konverge.dev/shards";
/** On a replica's own lease, by which the others know that it is there. */
const MEMBER_LABEL = "konverge.dev/shard-member";

/**
 * Several replicas act at the same time, each on its own keys.
 *
 * Keys are divided into parts by their hash; the holder of a part's lease acts on its keys, with all that {@link
 * LeaseClaim} promises. Which replica should hold which part follows from who is there (each shows it by a separate
 * lease), by rendezvous hashing: when one comes or goes, only the parts move that have to.
 *
 * Hand-over: a replica that holds a part that another should hold starts no more work for it, waits for what is in
 * progress, and releases the lease; only then the other can have it. Until then, no replica acts on those keys.
 */
export function sharding(options: ShardingOptions, context: ElectionContext): Election {
  return new Sharding(options, context);
}

class Sharding implements Election {
  readonly #context: ElectionContext;
  readonly #namespace: string;
  readonly #group: string;
  readonly #sightings: LeaseSightings;
  readonly #membership: LeaseClaim;
  readonly #parts: LeaseClaim[];
  readonly #heartbeat: Heartbeat;
  readonly #gains: (() => void)[] = [];
  readonly #won = Promise.withResolvers<void>();
  #leaving = false;

  constructor(options: ShardingOptions, context: ElectionContext) {
    const { client, identity, log, observer } = context;
    const { name, parts = DEFAULT_PARTS, duration = DEFAULT_DURATION } = options;
    this.#context = context;
    this.#group = name;
    this.#namespace = options.namespace ?? client.namespace;
    this.#sightings = new LeaseSightings(client.clock);
    const claim = (lease: string, labels: Record<string, string>, onChange: LeaseClaimOptions["onChange"]) =>
      new LeaseClaim({
        client,
        identity,
        duration,
        margin: duration / 5,
        key: `${this.#namespace}/${lease}`,
        labels: { [GROUP_LABEL]: name, ...labels },
        sightings: this.#sightings,
        onChange,
      });
    this.#membership = claim(`${name}-member-${identity}`, { [MEMBER_LABEL]: "true" }, () => {});
    this.#parts = Array.from({ length: parts }, (_, i) =>
      claim(`${name}-part-${i}`, {}, (held) => {
        observer.leased?.({ lease: `${this.#namespace}/${name}-part-${i}`, identity, held });
        if (!held) return;
        this.#won.resolve();
        for (const gain of this.#gains) gain();
      }),
    );
    this.#heartbeat = new Heartbeat(client.clock, {
      every: duration / 5,
      label: `leases of ${name}`,
      beat: () =>
        this.#beat().catch((error: unknown) => log.warn({ err: error, shards: name }, "leases could not be renewed")),
    });
  }

  allows(key: ObjectKey): boolean {
    return this.#partOf(key).held;
  }

  begin(key: ObjectKey) {
    return this.#partOf(key).begin();
  }

  onGain(listener: () => void): void {
    this.#gains.push(listener);
  }

  start(): Promise<void> {
    return this.#heartbeat.start();
  }

  whenWon(): Promise<void> {
    return this.#won.promise;
  }

  async stop(): Promise<void> {
    this.#leaving = true;
    await Promise.all(this.#parts.map((part) => part.release()));
    await this.#heartbeat.stop();
    await this.#membership.release();
    const { client } = this.#context;
    // It is no longer needed. If it stays, it expires.
    await client.delete(Lease, this.#membership.key).catch(() => {});
  }

  #partOf(key: ObjectKey): LeaseClaim {
    return this.#parts[fnv1a32(key) % this.#parts.length]!;
  }

  async #beat(): Promise<void> {
    const { client, identity } = this.#context;
    if (!this.#leaving) await this.#membership.pursue();
    const { items } = await client.list(Lease, {
      namespace: this.#namespace,
      labelSelector: `${GROUP_LABEL}=${this.#group}`,
    });
    for (const lease of items) this.#sightings.see(lease);
    const members = items
      .filter(({ metadata }) => metadata.labels?.[MEMBER_LABEL] !== undefined)
      .flatMap((lease) => this.#sightings.holderOf(keyOf(lease)) ?? []);
    await Promise.all(
      this.#parts.map(async (part) => {
        const mine = chosen(part.key, members) === identity && !this.#leaving;
        if (part.tenured) {
          // The lease is renewed also while it is being handed over, until the work in progress has ended.
          await part.pursue();
          if (!mine && members.length > 0) void part.release();
        } else if (mine && this.#sightings.holderOf(part.key) === undefined) await part.pursue();
      }),
    );
  }
}

/** Of all members the one whose hash with the part is highest. */
function chosen(part: string, members: readonly string[]): string | undefined {
  let best: { member: string; weight: number } | undefined;
  for (const member of members) {
    const weight = scattered(fnv1a32(`${part}\n${member}`));
    if (!best || weight > best.weight || (weight === best.weight && member > best.member)) best = { member, weight };
  }
  return best?.member;
}

/** Spreads the bits of a hash: names that differ in one letter must not come out in the same order for every part. */
function scattered(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
