import { type Clock, keyOf, type ObjectKey } from "@konverge/core";
import type { Lease } from "@konverge/kinds";

interface Sighting {
  readonly resourceVersion: string | undefined;
  readonly at: number;
  readonly lease: Lease;
}

/**
 * What is known of leases that others hold. A lease has expired when it has been seen unchanged for as long as its holder
 * asked for, by our own clock that only grows. The times written in it are never compared with ours, so that it does not
 * matter what a holder's clock shows.
 */
export class LeaseSightings {
  readonly #clock: Clock;
  readonly #sightings = new Map<ObjectKey, Sighting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  see(lease: Lease): void {
    const { resourceVersion } = lease.metadata;
    const key = keyOf(lease);
    if (this.#sightings.get(key)?.resourceVersion === resourceVersion) return;
    this.#sightings.set(key, { resourceVersion, at: this.#clock.monotonic(), lease });
  }

  forget(key: ObjectKey): void {
    this.#sightings.delete(key);
  }

  get(key: ObjectKey): Lease | undefined {
    return this.#sightings.get(key)?.lease;
  }

  /** Who holds the lease; undefined if no one does (anymore). */
  holderOf(key: ObjectKey): string | undefined {
    const sighting = this.#sightings.get(key);
    const holder = sighting?.lease.spec?.holderIdentity;
    if (!sighting || !holder) return undefined;
    const duration = (sighting.lease.spec?.leaseDurationSeconds ?? 0) * 1000;
    return this.#clock.monotonic() - sighting.at > duration ? undefined : holder;
  }
}
