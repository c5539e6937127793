import type { Client } from "@konverge/client";
import { type Clock, isConflict, type KindRef, type KubeObject, type ObjectKey, type Timer } from "@konverge/core";
import { BY_CONTROLLER, Children, indexByController } from "../apply/children.ts";
import { controllerOf } from "../apply/ownership.ts";
import { StatusWriter } from "../apply/status.ts";
import type { Cache, Lease } from "../cache/cache.ts";
import type { Change, Informer } from "../cache/informer.ts";
import { WriteThroughClient } from "../cache/write-through-client.ts";
import type { Log } from "../log.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import type { Controller } from "./definition.ts";
import { ExternalError, PermanentError } from "./errors.ts";
import { Pass } from "./pass.ts";

const DEFAULT_CONCURRENCY = 10;
const DEFAULT_DEADLINE = 120_000;

/** A controller at work: changes in the cache become keys in a queue, and workers make a {@link Pass} for each. */
export class ControllerLoop {
  readonly definition: Controller;
  readonly queue: WorkQueue;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #leases: Lease<KubeObject>[] = [];
  readonly #pass: Pass;
  readonly #stop = new AbortController();
  #resync: Timer | undefined;
  #running = false;
  #idle = Promise.withResolvers<void>();

  constructor(definition: Controller, cluster: { client: Client; cache: Cache; clock: Clock; log: Log }) {
    const { clock, cache } = cluster;
    const { options, name, kind } = definition;
    this.definition = definition;
    this.#clock = clock;
    this.#log = cluster.log.child({ controller: name });
    this.queue = new WorkQueue({ clock, name, backoff: options.backoff, rate: options.rate });
    cache.addManager(name);
    const informer = this.#use(cache, kind);
    const owned = (options.owns ?? []).map((child) => this.#use(cache, child));
    const client = new WriteThroughClient(cluster.client, cache, name);
    this.#pass = new Pass({
      definition,
      informer,
      children: new Children({ client, manager: name, ownerKind: kind, owned }),
      status: new StatusWriter({ client, clock, manager: name, informer }),
      client,
      clock,
      log: this.#log,
    });
    this.#subscribe(cache, informer, owned);
  }

  /** Starts the workers once all that they may read has been listed. */
  async start(): Promise<void> {
    await Promise.all(this.#leases.map(({ informer }) => informer.whenSynced()));
    if (this.#stop.signal.aborted) return;
    this.#running = true;
    this.queue.onReady = () => this.#work();
    this.#armResync();
    this.#work();
  }

  /** Takes on no more work, and resolves when that in progress is done. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#resync?.cancel();
    this.queue.close();
    if (this.queue.working > 0) await this.#idle.promise;
    for (const lease of this.#leases) lease.release();
  }

  /** Interrupts the work in progress. */
  abort(reason: Error): void {
    this.#stop.abort(reason);
  }

  #use(cache: Cache, kind: KindRef<KubeObject>, scope = {}): Informer<KubeObject> {
    const lease = cache.use(kind, scope);
    this.#leases.push(lease);
    return lease.informer;
  }

  #subscribe(cache: Cache, informer: Informer<KubeObject>, owned: Informer<KubeObject>[]): void {
    informer.subscribe((change) => {
      // What we said about an object ourselves is no news.
      if (change.writer === this.definition.name && change.type === "changed") return;
      this.#trigger(change.key, change);
    });
    for (const child of owned) {
      child.addIndex(BY_CONTROLLER, indexByController);
      child.subscribe((change) => {
        for (const state of [change.before, change.object]) this.#triggerOwner(state, change);
      });
    }
    for (const { kind, to, ...scope } of this.definition.options.watches ?? []) {
      this.#use(cache, kind, scope).subscribe((change) => {
        for (const key of to(change.object)) this.#trigger(key, change);
        if (change.before) for (const key of to(change.before)) this.#trigger(key, change);
      });
    }
  }

  #triggerOwner(child: KubeObject | undefined, change: Change<KubeObject>): void {
    const owner = child && controllerOf(child);
    const { kind } = this.definition;
    if (owner?.kind !== kind.kind || !owner.apiVersion.startsWith(`${kind.group}/`)) return;
    this.#trigger(kind.namespaced ? `${child!.metadata.namespace}/${owner.name}` : owner.name, change);
  }

  #trigger(key: ObjectKey, change: Change<KubeObject>): void {
    this.queue.add(key, { priority: change.listed ? "low" : "normal" });
  }

  #armResync(): void {
    const { resync } = this.definition.options;
    if (!resync) return;
    this.#resync = this.#clock.after(
      resync,
      () => {
        for (const key of this.#leases[0]!.informer.keys()) this.queue.add(key, { priority: "low" });
        this.#armResync();
      },
      { background: true, label: `${this.definition.name}: resync` },
    );
  }

  #work(): void {
    const concurrency = this.definition.options.concurrency ?? DEFAULT_CONCURRENCY;
    while (this.#running && this.queue.working < concurrency) {
      const item = this.queue.take();
      if (!item) return;
      // Each in a turn of its own, so that a flood of keys does not keep everything else waiting.
      this.#clock.post(() => void this.#attend(item.key), `${this.definition.name}: ${item.key}`);
    }
  }

  async #attend(key: ObjectKey): Promise<void> {
    const time = new AbortController();
    const deadline = this.definition.options.deadline ?? DEFAULT_DEADLINE;
    const timer = this.#clock.after(deadline, () =>
      time.abort(new Error(`the reconcile has taken longer than ${deadline} ms`)),
    );
    try {
      const next = await this.#pass.run(key, AbortSignal.any([time.signal, this.#stop.signal]));
      this.queue.done(key, next);
    } catch (error) {
      this.#failed(key, error);
    } finally {
      timer.cancel();
      if (!this.#running && this.queue.working === 0) this.#idle.resolve();
    }
  }

  #failed(key: ObjectKey, error: unknown): void {
    if (error instanceof PermanentError) {
      this.#log.error({ object: key, err: error }, error.message);
      this.queue.done(key);
      return;
    }
    if (error instanceof ExternalError) {
      this.#log.warn({ object: key, err: error }, error.message);
      this.queue.done(key, { after: error.after });
      return;
    }
    const wait = this.queue.retry(key);
    const message = error instanceof Error ? error.message : String(error);
    if (isConflict(error)) this.#log.debug({ object: key, wait }, message);
    else this.#log.error({ object: key, wait, err: error }, message);
  }
}
