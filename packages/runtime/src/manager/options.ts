import type { Client } from "@konverge/client";
import type { Clock } from "@konverge/core";
import type { Cache } from "../cache/cache.ts";
import type { LeaderElectionOptions } from "../leadership/leader.ts";
import type { ShardingOptions } from "../leadership/shards.ts";
import type { Log } from "../log.ts";
import type { Observer } from "../observe/observer.ts";
import type { ReconcileRecorderOptions } from "../recording/recorder.ts";

export interface ManagerOptions {
  /** The client of the manager's own cluster, in which leases are stored. */
  client: Client;
  /** Further clusters, by name. Controllers run in all of them, unless they have `clusters`. */
  clusters?: Readonly<Record<string, Client>>;
  /**
   * A cache of the manager's own cluster that is shared with other managers: a {@link Cache.branch}. Default: a
   * separate cache.
   */
  cache?: Cache;
  /** Default: the client's. */
  clock?: Clock;
  /** Default: none for a `Manager`; `run` logs to standard error. */
  log?: Log;
  /** Receive everything that happens: metrics, traces. */
  observers?: readonly Observer[];
  /** Write every reconcile to a file, to replay it later. */
  recorder?: string | ReconcileRecorderOptions;
  /** Only these namespaces. Default: all of them. */
  namespaces?: readonly string[];
  /**
   * The permissions are Roles in `namespaces`: cluster-scoped kinds that controllers watch are not read, and caches of them stay
   * empty. Default: false.
   */
  namespaced?: boolean;
  /** Only one of several replicas is active. */
  leaderElection?: LeaderElectionOptions;
  /** Several replicas are active and share the objects. */
  sharding?: ShardingOptions;
  /** Check at startup that the controllers have all permissions, and do not start otherwise. */
  preflight?: boolean;
  /** The name of this process among its replicas. Default: generated. */
  identity?: string;
  /** How long reconciles in progress can take when the manager stops, in milliseconds. Default: 30 s. */
  gracefulShutdownTimeout?: number;
  /** Time within which all kinds must have been listed, in milliseconds. Default: two minutes. */
  syncTimeout?: number;
}
