import type { Client } from "@konverge/client";
import type { Log } from "../log.ts";
import type { Observer } from "../observe/observer.ts";
import type { Authority, Permit } from "./authority.ts";
import { Heartbeat } from "./heartbeat.ts";
import { LeaseClaim } from "./lease-claim.ts";
import { LeaseSightings } from "./lease-sightings.ts";

export interface LeaderElectionOptions {
  /** The name of the Lease, the same for all replicas. */
  name: string;
  /** Its namespace. Default: the client's. */
  namespace?: string;
  /** How long the lease is valid without renewal, in milliseconds. Default: 15 s. */
  duration?: number;
}

export interface ElectionContext {
  client: Client;
  identity: string;
  log: Log;
  observer: Observer;
}

/** An authority that has to be won. */
export interface Election extends Authority {
  /** Begins to strive for it. */
  start(): Promise<void>;
  /** Resolves when some of it has been won for the first time. */
  whenWon(): Promise<void>;
  /** Waits for the work in progress, and releases it. */
  stop(): Promise<void>;
}

const DEFAULT_DURATION = 15_000;

/** One replica acts at a time: the holder of a lease. */
export function leaderElection(options: LeaderElectionOptions, context: ElectionContext): Election {
  const { client, identity, log, observer } = context;
  const { name, namespace = client.namespace, duration = DEFAULT_DURATION } = options;
  const key = `${namespace}/${name}`;
  const gains: (() => void)[] = [];
  const won = Promise.withResolvers<void>();
  const claim = new LeaseClaim({
    client,
    key,
    identity,
    duration,
    margin: duration / 5,
    sightings: new LeaseSightings(client.clock),
    onChange(held) {
      log.info({ lease: key, identity }, held ? `${identity} leads` : `${identity} no longer leads`);
      observer.leased?.({ lease: key, identity, held });
      if (!held) return;
      won.resolve();
      for (const gain of gains) gain();
    },
  });
  const heartbeat = new Heartbeat(client.clock, {
    every: duration / 5,
    label: `lease ${key}`,
    beat: () =>
      claim.pursue().catch((error: unknown) => log.warn({ err: error, lease: key }, "the lease could not be renewed")),
  });
  return {
    allows: () => claim.held,
    begin: (): Permit | undefined => claim.begin(),
    onGain: (listener) => void gains.push(listener),
    start: () => heartbeat.start(),
    whenWon: () => won.promise,
    async stop() {
      await claim.release();
      await heartbeat.stop();
    },
  };
}
