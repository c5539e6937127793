import { ApiError, type Clock, groupKindText, type KindRef, type KubeObject, sleep } from "@konverge/core";
import { Cache } from "../cache/cache.ts";
import { controllerPermissions } from "../controller/declared-access.ts";
import { ControllerLoop } from "../controller/loop.ts";
import type { Controller } from "../definition/definition.ts";
import { sole } from "../leadership/authority.ts";
import { type Election, leaderElection } from "../leadership/leader.ts";
import { sharding } from "../leadership/shards.ts";
import { type Log, silentLog } from "../log.ts";
import { processLog } from "../observability/process-log.ts";
import { reconcileLog } from "../observability/reconcile-log.ts";
import { combineObservers, type ManagerState } from "../observe/observer.ts";
import type { ControllerState, WatchState } from "../observe/state.ts";
import { checkPermissions } from "../rbac/preflight.ts";
import { ReconcileRecorder, type ReconcileRecorderOptions } from "../recording/recorder.ts";
import { checkOptions, HOME_CLUSTER_NAME } from "./check-options.ts";
import { DynamicLoops, type DynamicLoopsOptions } from "./dynamic-loops.ts";
import type { ManagerOptions } from "./options.ts";

const DEFAULT_GRACE = 30_000;
const DEFAULT_SYNC_TIMEOUT = 120_000;

/**
 * Runs controllers, in one cluster or several, alone or as one of several replicas.
 *
 * Flow: with leader election or sharding, it acquires the lease first, then starts the watches, then reconciles, so
 * what it lists is at least as new as anything that an earlier holder acted on. To stop, it takes the reverse order: it
 * starts no reconcile, waits for those in progress, releases the leases, and ends the watches.
 */
export class Manager implements ManagerState {
  readonly identity: string;
  readonly clock: Clock;
  readonly #log: Log;
  readonly #options: ManagerOptions;
  readonly #caches = new Map<string, Cache>();
  readonly #loops: { cluster: string; loop: ControllerLoop }[] = [];
  /** The controllers that reconcilers returned, by cluster. */
  readonly #dynamic = new Map<string, DynamicLoops>();
  readonly #election: Election | undefined;
  readonly #recorder: ReconcileRecorder | undefined;
  readonly #done = Promise.withResolvers<void>();
  #working = false;
  #started = false;
  #begun = false;
  #stopping: Promise<void> | undefined;

  constructor(controllers: readonly Controller[], options: ManagerOptions) {
    checkOptions(controllers, options);
    const { client, log = silentLog, leaderElection: leader, sharding: shards } = options;
    this.#options = options;
    this.clock = options.clock ?? client.clock;
    this.#log = log;
    this.identity = options.identity ?? `konverge-${this.clock.random.uuid().slice(0, 8)}`;
    this.#done.promise.catch(() => {});
    this.#recorder = options.recorder === undefined ? undefined : recorderOf(options.recorder, log);
    const observer = combineObservers([
      ...(log === silentLog ? [] : [reconcileLog(log)]),
      ...(this.#recorder ? [this.#recorder] : []),
      ...(options.observers ?? []),
    ]);
    const context = { client, identity: this.identity, log, observer };
    this.#election = leader ? leaderElection(leader, context) : shards && sharding(shards, context);
    const clients = new Map(Object.entries({ [HOME_CLUSTER_NAME]: client, ...options.clusters }));
    for (const [name, one] of clients) {
      const onError = (kind: KindRef<KubeObject>, error: Error, retryIn: number) => {
        const what = `the watch of ${groupKindText(kind)}`;
        // As after each installation of a kind, whose storage takes a moment.
        if (error instanceof ApiError && error.code === 429) {
          log.info({ cluster: name, retryIn, reason: error.message }, `${what} starts later: the API server is busy`);
        } else log.warn({ cluster: name, err: error, retryIn }, `${what} failed`);
        observer.watchFailed?.({ cluster: name, kind, error, retryIn });
        this.#dynamic.get(name)?.watchFailed(kind);
      };
      const cache = (name === HOME_CLUSTER_NAME ? options.cache : undefined) ?? new Cache(one, { onError });
      this.#caches.set(name, cache);
      const cluster = {
        name,
        client: one,
        clients,
        cache,
        caches: this.#caches,
        clock: this.clock,
        log,
        observer,
        authority: this.#election ?? sole,
        identity: this.identity,
        namespaces: options.namespaces,
        namespaced: options.namespaced ?? false,
      };
      const dynamic = this.#dynamicLoops(cluster);
      for (const definition of controllers) {
        if (!(definition.options.clusters ?? [name]).includes(name)) continue;
        const role = { isPrimary: primaryOf(definition, controllers) === definition };
        this.#loops.push({ cluster: name, loop: new ControllerLoop(definition, { ...cluster, dynamic }, role) });
      }
    }
    observer.managing?.(this);
  }

  /**
   * True while the controllers work: all kinds have been listed and, with leader election or sharding, a lease is held.
   */
  get working(): boolean {
    return this.#working;
  }

  /** True while a manager with leader election or sharding holds no lease yet: another replica is active. */
  get standby(): boolean {
    return this.#election !== undefined && !this.#begun && this.#stopping === undefined;
  }

  /** The lease of a leader election. */
  get leases(): readonly string[] {
    const { leaderElection: leader, client } = this.#options;
    return leader ? [`${leader.namespace ?? client.namespace}/${leader.name}`] : [];
  }

  /** Resolves when the manager has stopped; rejects if it stopped because of an error. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /**
   * Resolves when the controllers work or, with leader election or sharding, as soon as the manager tries to acquire a
   * lease. Rejects if a kind cannot be listed in time.
   */
  async start(): Promise<void> {
    if (this.#stopping) throw new Error("the manager has stopped and cannot start again: create a new one");
    if (this.#started) throw new Error("the manager is already started");
    this.#started = true;
    if (this.#options.preflight) await this.#preflight();
    if (!this.#election) return await this.#begin();
    void this.#election
      .whenWon()
      .then(() => this.#begin())
      .catch((error: unknown) => this.#log.error({ err: error }, "the manager has failed and does not retry"));
    await this.#election.start();
  }

  /**
   * Starts no more reconciles and waits for those in progress; after `gracefulShutdownTimeout` they are aborted. Then
   * releases the leases and ends the watches.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#end().finally(() => this.#done.resolve());
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  *watches(): IterableIterator<WatchState> {
    for (const [cluster, cache] of this.#caches) {
      for (const { kind, scope, synced, age, size, bytes, error } of cache.informers()) {
        yield { cluster, kind, scope, synced, age, objects: size, bytes, error };
      }
    }
  }

  *controllers(): IterableIterator<ControllerState> {
    for (const { cluster, loop } of this.#allLoops()) {
      const { depth, depths, working, retrying } = loop.queue;
      const { concurrency, daemons, definition } = loop;
      yield { cluster, name: definition.name, depth, depths, working, retrying, concurrency, daemons };
    }
  }

  *#allLoops(): IterableIterator<{ cluster: string; loop: ControllerLoop }> {
    yield* this.#loops;
    for (const [cluster, dynamic] of this.#dynamic) for (const loop of dynamic.loops()) yield { cluster, loop };
  }

  #dynamicLoops(cluster: DynamicLoopsOptions["cluster"]): DynamicLoops {
    const running = () => [...this.#allLoops()].filter((one) => one.cluster === cluster.name);
    const dynamic = new DynamicLoops({
      cluster,
      isPrimary: (definition) =>
        running().every(
          ({ loop }) => loop.definition.name === definition.name || !haveSameObjects(loop.definition, definition),
        ),
      sharded: this.#options.sharding !== undefined,
      onChange: ({ controller, key }) =>
        running()
          .find(({ loop }) => loop.definition.name === controller)
          ?.loop.controllerChanged(key),
    });
    this.#dynamic.set(cluster.name, dynamic);
    return dynamic;
  }

  async #preflight(): Promise<void> {
    const { client, clusters, namespaces, namespaced, leaderElection: leader, sharding: shards } = this.#options;
    for (const [name, one] of Object.entries({ [HOME_CLUSTER_NAME]: client, ...clusters })) {
      const definitions = this.#loops.filter(({ cluster }) => cluster === name).map(({ loop }) => loop.definition);
      const home = (lease: { name: string; namespace?: string }) => ({ namespace: client.namespace, ...lease });
      const leases = name === HOME_CLUSTER_NAME && {
        ...(leader && { leaderElection: home(leader) }),
        ...(shards && { sharding: home(shards) }),
      };
      const reach = { ...(namespaces && { namespaces }), ...(namespaced && { namespaced }) };
      await checkPermissions(one, controllerPermissions(definitions, { ...reach, ...leases }));
    }
  }

  async #begin(): Promise<void> {
    if (this.#stopping) return;
    this.#begun = true;
    for (const cache of this.#caches.values()) cache.start();
    const started = Promise.all(this.#loops.map(({ loop }) => loop.start()));
    const timeout = this.#options.syncTimeout ?? DEFAULT_SYNC_TIMEOUT;
    const over = new AbortController();
    const late = sleep(this.clock, timeout, { signal: over.signal, label: "waiting for the first listing" }).then(
      () => Promise.reject(this.#notSynced(timeout)),
      () => {},
    );
    try {
      await Promise.race([started, late]);
      this.#working = this.#stopping === undefined;
    } catch (error) {
      if (this.#stopping) return;
      this.#done.reject(error);
      await this.stop();
      throw error;
    } finally {
      over.abort();
    }
  }

  /** Says which kinds are missing, and why. */
  #notSynced(timeout: number): Error {
    const missing = [...this.watches()].filter(({ synced }) => !synced);
    const told = missing.map(({ kind, error }) => `${groupKindText(kind)} (${error?.message ?? "no answer"})`);
    return new Error(`after ${timeout} ms these kinds have not been listed: ${told.join(", ")}`);
  }

  async #end(): Promise<void> {
    this.#working = false;
    const over = new AbortController();
    const grace = this.#options.gracefulShutdownTimeout ?? DEFAULT_GRACE;
    const interrupted = sleep(this.clock, grace, { label: "shutdown grace", signal: over.signal }).then(
      () => {
        for (const { loop } of this.#loops) loop.abort(new Error("the manager has stopped"));
        for (const dynamic of this.#dynamic.values()) dynamic.abort(new Error("the manager has stopped"));
      },
      () => {},
    );
    const dynamic = [...this.#dynamic.values()].map((loops) => loops.stop());
    await Promise.all([...this.#loops.map(({ loop }) => loop.stop()), ...dynamic]);
    over.abort();
    await interrupted;
    await this.#election?.stop();
    for (const cache of this.#caches.values()) cache.stop();
    this.#recorder?.close();
  }
}

function recorderOf(options: string | ReconcileRecorderOptions, log: Log): ReconcileRecorder {
  const onError = (error: Error) => log.error({ err: error }, error.message);
  return new ReconcileRecorder(typeof options === "string" ? { file: options, onError } : { onError, ...options });
}

/** Of several controllers of the same objects, the first in the list: it decides whether they are ready. */
function primaryOf(definition: Controller, controllers: readonly Controller[]): Controller | undefined {
  return controllers.find((one) => haveSameObjects(one, definition));
}

function haveSameObjects(one: Controller, other: Controller): boolean {
  const objects = ({ kind, options: { labelSelector, fieldSelector, namespaces } }: Controller) =>
    JSON.stringify([groupKindText(kind), labelSelector, fieldSelector, namespaces]);
  return objects(one) === objects(other);
}

/**
 * Runs controllers until the manager is stopped. It logs to standard error, at the level in $LOG_LEVEL or info, unless you
 * pass another `log`:
 *
 * ```ts
 * await using manager = await run([models], { client });
 * ```
 */
export async function run(controllers: readonly Controller[] | Controller, options: ManagerOptions): Promise<Manager> {
  const log = options.log ?? processLog({ clock: options.clock ?? options.client.clock });
  const manager = new Manager("kind" in controllers ? [controllers] : controllers, { ...options, log });
  await manager.start();
  return manager;
}
