import type { Client } from "@konverge/client";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  microTimestamp,
  type ObjectKey,
  splitKey,
  type Timer,
} from "@konverge/core";
import { Lease } from "@konverge/kinds";
import { LostAuthorityError, type Permit } from "./authority.ts";
import type { LeaseSightings } from "./lease-sightings.ts";

export interface LeaseTiming {
  /** Milliseconds for which a lease is granted; whole seconds. */
  duration: number;
  /** Milliseconds before its end at which all work under it has ended. */
  margin: number;
}

export interface LeaseClaimOptions extends LeaseTiming {
  client: Client;
  key: ObjectKey;
  identity: string;
  labels?: Record<string, string>;
  sightings: LeaseSightings;
  /** The lease was won or lost. */
  onChange: (held: boolean) => void;
}

/** One unbroken stretch of holding a lease. */
interface Tenure {
  readonly since: number;
  readonly ended: AbortController;
  readonly leaving: AbortController;
  /** When the others may take it, by our own clock: reckoned from before the request that won or renewed it. */
  until: number;
}

/**
 * A lease that this process tries to acquire, holds or held.
 *
 * Guarantees
 * - Work begins only under a lease that no other replica can have, and no request is sent, or left in progress, later
 *   than `margin` before the others may take it. This holds whatever the wall clocks show, and after a pause of the
 *   process: what counts is the monotonic clock at the moment of sending.
 * - A renewal without an answer does not count.
 *
 * Caveat: leases cannot fence. A request that was sent in time, and that the network or the server delays for longer
 * than the margin, may be carried out after another replica has begun. Deletions therefore name the uid and version of
 * what they delete, and applies the uid of what they change.
 */
export class LeaseClaim {
  readonly #options: LeaseClaimOptions;
  #tenure: Tenure | undefined;
  #timer: Timer | undefined;
  #active = 0;
  #whenIdle: (() => void) | undefined;
  #closing = false;

  constructor(options: LeaseClaimOptions) {
    this.#options = options;
  }

  get key(): ObjectKey {
    return this.#options.key;
  }

  /** Whether new work may begin. */
  get held(): boolean {
    return this.#tenure !== undefined && !this.#closing && this.#now < this.#deadline(this.#tenure);
  }

  /** Whether it is ours, even if no new work may begin. */
  get tenured(): boolean {
    return this.#tenure !== undefined;
  }

  /** Pieces of work that have begun and not ended. */
  get active(): number {
    return this.#active;
  }

  begin(): Permit | undefined {
    const tenure = this.#tenure;
    if (!tenure || !this.held) return undefined;
    this.#active++;
    const claim = this;
    let over = false;
    return {
      signal: tenure.ended.signal,
      leaving: tenure.leaving.signal,
      since: tenure.since,
      get deadline() {
        return claim.#deadline(tenure);
      },
      check: () => this.#check(tenure),
      end: () => {
        if (over) return;
        over = true;
        if (--this.#active === 0) this.#whenIdle?.();
      },
    };
  }

  /** Wins or renews the lease if that is possible now. Throws if the server could not be asked. */
  async pursue(): Promise<void> {
    const { client, key, sightings, identity, duration } = this.#options;
    const limits = { timeout: duration / 2 };
    try {
      const known = (this.#tenure && sightings.get(key)) ?? (await this.#read());
      const holder = this.#tenure ? known?.spec?.holderIdentity : sightings.holderOf(key);
      if (this.#tenure ? holder !== identity : holder !== undefined && holder !== identity) {
        this.#lose("another replica acquired it");
        return;
      }
      const sent = this.#now;
      const lease = known
        ? await client.update(Lease, this.#renewed(known), limits)
        : await client.create(Lease, this.#fresh(), limits);
      sightings.see(lease);
      // Updates create leases that are gone: it is then another one, and others may have looked in between.
      if (known && lease.metadata.uid !== known.metadata.uid) this.#lose("it was deleted");
      else this.#keep(sent);
    } catch (error) {
      // Another replica was faster, or the outcome of our request is unknown: read before trying again.
      sightings.forget(key);
      if (isNotFound(error)) this.#lose("it was deleted");
      else if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }

  /** Starts no more work, waits for what is in progress, and releases the lease at once. */
  async release(): Promise<void> {
    const { client, key, sightings } = this.#options;
    if (!this.#tenure || this.#closing) return;
    this.#closing = true;
    this.#tenure.leaving.abort(new Error(`the lease ${key} is being handed over`));
    try {
      await this.idle();
      const known = sightings.get(key);
      if (this.#tenure && known) {
        const spec = { ...known.spec, holderIdentity: "", leaseDurationSeconds: 1 };
        sightings.see(await client.update(Lease, { ...known, spec }));
      }
    } catch {
      // It runs out by itself.
    } finally {
      sightings.forget(key);
      this.#lose("it was released");
      this.#closing = false;
    }
  }

  /** Resolves when no work is in progress. */
  async idle(): Promise<void> {
    if (this.#active === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  get #now(): number {
    return this.#options.client.clock.monotonic();
  }

  #deadline(tenure: Tenure): number {
    return tenure.until - this.#options.margin;
  }

  #check(tenure: Tenure): void {
    if (this.#tenure === tenure && this.#now < this.#deadline(tenure)) return;
    if (this.#tenure === tenure) this.#lose("it was not renewed in time");
    throw new LostAuthorityError(`the lease ${this.#options.key} is no longer ours`);
  }

  #keep(sent: number): void {
    const until = sent + this.#options.duration;
    const gained = this.#tenure === undefined;
    if (this.#tenure) this.#tenure.until = until;
    else this.#tenure = { since: this.#now, until, ended: new AbortController(), leaving: new AbortController() };
    this.#watch(this.#tenure);
    if (gained) this.#options.onChange(true);
  }

  /** Ends the tenure when its time is up. */
  #watch(tenure: Tenure): void {
    this.#timer?.cancel();
    const { client, key } = this.#options;
    const wait = Math.max(0, this.#deadline(tenure) - this.#now);
    this.#timer = client.clock.after(wait, () => this.#lose("it was not renewed in time"), {
      background: true,
      label: `end of the lease ${key}`,
    });
  }

  #lose(why: string): void {
    this.#timer?.cancel();
    const tenure = this.#tenure;
    if (!tenure) return;
    this.#tenure = undefined;
    tenure.ended.abort(new LostAuthorityError(`the lease ${this.#options.key} is no longer ours: ${why}`));
    this.#options.onChange(false);
  }

  async #read(): Promise<Lease | undefined> {
    const { client, key, sightings } = this.#options;
    try {
      const lease = await client.get(Lease, key, { timeout: this.#options.duration / 2 });
      sightings.see(lease);
      return lease;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #fresh() {
    const { key, labels, identity, duration, client } = this.#options;
    const now = microTimestamp(client.clock);
    return {
      metadata: { ...splitKey(key), ...(labels && { labels }) },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(duration / 1000),
        acquireTime: now,
        renewTime: now,
        leaseTransitions: 0,
      },
    };
  }

  #renewed(known: Lease): Lease {
    const { identity, duration, client } = this.#options;
    const now = microTimestamp(client.clock);
    const changes = known.spec?.holderIdentity !== identity;
    return {
      ...known,
      spec: {
        ...known.spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(duration / 1000),
        renewTime: now,
        ...(changes && { acquireTime: now, leaseTransitions: (known.spec?.leaseTransitions ?? 0) + 1 }),
      },
    };
  }
}
