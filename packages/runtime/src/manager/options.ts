import type { Client } from "@konverge/client";
import type { Clock } from "@konverge/core";
import type { Cache } from "../cache/cache.ts";
import type { LeaderElectionOptions } from "../leadership/leader.ts";
import type { ShardingOptions } from "../leadership/shards.ts";
import type { Log } from "../log.ts";
import type { Observer } from "../observe/observer.ts";
import type { ReconcileRecorderOptions } from "../recording/recorder.ts";

export interface ManagerOptions {
  /** The cluster that the manager is at home in: leases are kept there. */
  client: Client;
  /** Further clusters, by name. Controllers work in all of them, unless they say in which. */
  clusters?: Readonly<Record<string, Client>>;
  /** The cache of the home cluster, shared with others: a {@link Cache.branch}. Default: a separate cache. */
  cache?: Cache;
  /** Default: the client's. */
  clock?: Clock;
  /** Default: none for a `Manager`; `run` logs to standard error. */
  log?: Log;
  /** Those who want to know all that happens: metrics, traces, recordings. */
  observers?: readonly Observer[];
  /** Write every reconcile into a file, to be replayed later: see `Recorder`. */
  recorder?: string | ReconcileRecorderOptions;
  /** Only these namespaces. Default: all of them. */
  namespaces?: readonly string[];
  /** Let one of several replicas act at a time. */
  leaderElection?: LeaderElectionOptions;
  /** Let several replicas share the objects among them. */
  sharding?: ShardingOptions;
  /** Ask the server first whether all that the controllers need is allowed, and do not start if it is not. */
  preflight?: boolean;
  /** Names this process among its replicas. Default: made up. */
  identity?: string;
  /** Milliseconds that work in progress is given to finish when the manager stops. Default: 30 s. */
  gracefulShutdownTimeout?: number;
  /** Milliseconds within which all watches must have listed what there is. Default: two minutes. */
  syncTimeout?: number;
}
