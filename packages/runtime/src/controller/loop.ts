import type { ObjectKey, Timer } from "@konverge/core";
import type { LayeredCall } from "../calls/layered-call.ts";
import type { Controller } from "../definition/definition.ts";
import type { Permit } from "../leadership/authority.ts";
import type { ReconcileEnd, ReconcileObserver, ReconcileTrigger } from "../observe/observer.ts";
import { type ReconcileInProgress, reconcilesInProgress } from "../observe/reconciles-in-progress.ts";
import { type QueuePriority, WorkQueue } from "../queue/work-queue.ts";
import { attempt } from "./attempt.ts";
import { Daemons } from "./daemons.ts";
import { failureOf } from "./failure.ts";
import { HotLoops } from "./hot-loops.ts";
import { observedReconcile } from "./observed-reconcile.ts";
import { Reconcile } from "./reconcile.ts";
import { runSource } from "./sources.ts";
import { subscribe } from "./triggers.ts";
import { type Cluster, type ControllerRole, type Wiring, wire } from "./wiring.ts";

const DEFAULT_CONCURRENCY = 10;
const DEFAULT_DEADLINE = 120_000;
/** Triggers that are remembered for a waiting key. */
const REMEMBERED_TRIGGERS = 8;

/**
 * A controller at work in a cluster: changes in the cache become keys in a queue, workers make a {@link Reconcile} for each.
 *
 * Guarantees: a key is worked on by at most one worker, and only while the authority permits it; a reconcile that throws,
 * hangs or runs out of time harms no other.
 */
export class ControllerLoop {
  readonly definition: Controller;
  readonly queue: WorkQueue;
  readonly #cluster: Cluster;
  readonly #wiring: Wiring;
  readonly #daemons: Daemons | undefined;
  readonly #triggers = new Map<ObjectKey, ReconcileTrigger[]>();
  readonly #stop = new AbortController();
  readonly #hotLoops: HotLoops | undefined;
  /** Keys in a hot loop whose next reconcile waits. */
  readonly #slowed = new Map<ObjectKey, Timer>();
  #resync: Timer | undefined;
  #running = false;
  #whenIdle: (() => void) | undefined;

  constructor(definition: Controller, cluster: Cluster, role: ControllerRole) {
    const { options, name } = definition;
    this.definition = definition;
    this.#cluster = cluster;
    this.queue = new WorkQueue({
      clock: cluster.clock,
      name,
      backoff: options.backoff,
      backgroundRetries: options.backoff?.background,
      rateLimit: options.rateLimit,
    });
    const wiring = wire(definition, cluster, role);
    this.#wiring = wiring;
    this.#hotLoops = options.logErrorsOnly ? undefined : this.#newHotLoops();
    this.#daemons =
      options.daemons && new Daemons(wiring, options.daemons, (key) => this.#add(key, "normal", { type: "daemon" }));
    subscribe({
      ...wiring,
      add: (key, priority, trigger) => this.#add(key, priority, trigger),
      isSelfContained: (key) => wiring.selfContained.has(key),
      onError: (error, trigger) =>
        wiring.log.error({ err: error, trigger }, "a function of watches or references threw"),
    });
    for (const view of wiring.views) {
      view.onServedChange(() => this.#addAll({ type: "kind", kind: view.kind.kind }));
    }
    cluster.authority.onGain(() => this.#addAll({ type: "takeover" }));
  }

  /** Starts the workers once all that they may read has been listed. */
  async start(): Promise<void> {
    await Promise.all(this.#wiring.views.map((view) => view.whenSynced()));
    if (this.#stop.signal.aborted) return;
    this.#running = true;
    this.queue.onReady = () => this.#work();
    this.#armResync();
    const { client, clock } = this.#cluster;
    for (const source of this.definition.options.sources ?? []) {
      void runSource(source, {
        context: { client, clock, signal: this.#stop.signal },
        add: (key) => this.#add(key, "normal", { type: "source" }),
        onError: (error) => this.#wiring.log.warn({ err: error }, "a source of keys failed"),
      });
    }
    this.#work();
  }

  /** Starts no more work, and resolves when that in progress is done. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#resync?.cancel();
    this.queue.close();
    for (const timer of this.#slowed.values()) timer.cancel();
    const daemons = this.#daemons?.stopAll();
    if (this.queue.working > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    // Work in progress may have begun one more.
    await daemons;
    await this.#daemons?.stopAll();
    this.#stop.abort(new Error("the controller has stopped"));
    await this.#wiring.events.flush();
    for (const view of this.#wiring.views) view.release();
  }

  /** All that it reads. */
  get views(): Wiring["views"] {
    return this.#wiring.views;
  }

  /** Whether its own kind is served; true for one that is not optional. */
  get isServed(): boolean {
    return this.#wiring.view.isServed;
  }

  /** Calls `listener` when its own kind begins or ceases to be served, until it stops. */
  onServedChange(listener: () => void): void {
    this.#wiring.view.onServedChange(listener);
  }

  /** Reconciles an object because a controller that it returned has changed its state. */
  controllerChanged(key: ObjectKey): void {
    this.#add(key, "normal", { type: "controller" });
  }

  /** Interrupts the work in progress. */
  abort(reason: Error): void {
    this.#stop.abort(reason);
  }

  /** Puts a key into the queue. Keys of other replicas are left out. */
  #add(key: ObjectKey, priority: QueuePriority, trigger: ReconcileTrigger): void {
    const { name: cluster, authority, observer } = this.#cluster;
    if (!authority.allows(key)) return;
    const known = this.#triggers.get(key);
    if (!known) this.#triggers.set(key, [trigger]);
    else if (known.length < REMEMBERED_TRIGGERS) known.push(trigger);
    observer.triggered?.({ cluster, controller: this.definition.name, key, trigger });
    const delay = priority === "high" ? 0 : (this.#hotLoops?.delay(key) ?? 0);
    if (delay > 0) this.#addLater(key, delay);
    else this.queue.add(key, { priority });
  }

  /** Outside of the queue, in which a reconcile that ends takes the place of what is planned. */
  #addLater(key: ObjectKey, delay: number): void {
    if (this.#slowed.has(key)) return;
    const add = () => {
      this.#slowed.delete(key);
      this.queue.add(key);
    };
    const label = `${this.definition.name}: ${key} is in a hot loop`;
    this.#slowed.set(key, this.#cluster.clock.after(delay, add, { label }));
  }

  #newHotLoops(): HotLoops {
    const { clock, observer, name: cluster } = this.#cluster;
    const { log, view, events } = this.#wiring;
    const { name: controller, kind } = this.definition;
    return new HotLoops({
      clock,
      controller,
      kind,
      onLoop: ({ key, message }) => {
        log.warn({ object: key }, message);
        observer.hotLoop?.({ cluster, controller, key, message });
        const object = view.get(key);
        if (object) events.about(object).warning("HotLoop", message);
      },
      onEnd: (key) => log.info({ object: key }, "it is no longer reconciled again and again"),
    });
  }

  #addAll(trigger: ReconcileTrigger): void {
    for (const key of this.#wiring.view.keys()) this.#add(key, "low", trigger);
  }

  #armResync(): void {
    const { resync } = this.definition.options;
    if (!resync) return;
    this.#resync = this.#cluster.clock.after(
      resync,
      () => {
        this.#addAll({ type: "resync" });
        this.#armResync();
      },
      { background: true, label: `${this.definition.name}: resync` },
    );
  }

  /** How many keys are worked on at the same time, at most. */
  get concurrency(): number {
    return this.definition.options.concurrency ?? DEFAULT_CONCURRENCY;
  }

  /** How many objects each daemon runs for. */
  get daemons(): Readonly<Record<string, number>> {
    return this.#daemons?.running() ?? {};
  }

  #work(): void {
    while (this.#running && this.queue.working < this.concurrency) {
      const item = this.queue.take();
      if (!item) return;
      // Each in a separate turn, so that a flood of keys does not keep everything else waiting.
      this.#cluster.clock.post(() => void this.#attend(item), `${this.definition.name}: ${item.key}`);
    }
  }

  async #attend({ key, waited }: { key: ObjectKey; waited: number }): Promise<void> {
    const { clock, authority, name: cluster, observer: all } = this.#cluster;
    const triggers = this.#triggers.get(key) ?? [{ type: this.queue.failures(key) > 0 ? "retry" : "after" }];
    this.#triggers.delete(key);
    const permit = authority.begin(key);
    const started = clock.monotonic();
    const controller = this.definition.name;
    const failures = this.queue.failures(key);
    const observer = permit && all.reconciling?.({ cluster, controller, key, triggers, waited, failures });
    let end: End = { outcome: "stopped" };
    const written: LayeredCall[] = [];
    if (permit) {
      const inProgress = { controller, kind: this.definition.kind.kind, key, log: this.#wiring.log };
      reconcilesInProgress.begin(inProgress);
      if ((this.#hotLoops?.delay(key) ?? 0) > 0) await this.#hotLoops?.explain(key, this.#cluster.client);
      const work = () => this.#reconcile(inProgress, permit, observer, written);
      const attended = observer?.around ? observer.around(work) : work();
      end = await attended.catch((error: unknown) => failureOf(error, false));
      reconcilesInProgress.end(inProgress);
    }
    permit?.end();
    this.#hotLoops?.reconciled(key, triggers, written);
    const next = this.#settle(key, end);
    observer?.ended?.({ ...end, ...(next !== undefined && { next }), duration: clock.monotonic() - started });
    if (this.queue.working === 0) this.#whenIdle?.();
  }

  async #reconcile(
    inProgress: ReconcileInProgress,
    permit: Permit,
    observer: ReconcileObserver | undefined,
    written: LayeredCall[],
  ): Promise<End> {
    const { key } = inProgress;
    const { clock } = this.#cluster;
    const { name, options } = this.definition;
    const limits = { clock, signals: [this.#stop.signal, permit.signal], label: `${name}: ${key}` };
    const { wiring, ...hooks } = observer ? observedReconcile(this.#wiring, observer) : { wiring: this.#wiring };
    const one = (signal: AbortSignal) =>
      new Reconcile(wiring, this.#daemons, { key, permit, signal, written, inProgress, ...hooks });
    try {
      return await attempt((signal) => one(signal).run(), {
        ...limits,
        deadline: options.deadline ?? DEFAULT_DEADLINE,
      });
    } catch (error) {
      const stopped = this.#stop.signal.aborted || permit.signal?.aborted === true;
      const failure = failureOf(error, stopped, options.backoff?.refused);
      await attempt((signal) => one(signal).report(failure, this.queue.failures(key)), {
        ...limits,
        deadline: DEFAULT_DEADLINE,
      }).catch((second: unknown) =>
        this.#wiring.log.debug({ err: second, object: key }, "a failure could not be reported"),
      );
      return failure;
    } finally {
      this.#wiring.selfContained.delete(key);
    }
  }

  /** Gives the key back to the queue. Returns the milliseconds until it comes up again, if it does by itself. */
  #settle(key: ObjectKey, { outcome, after }: End): number | undefined {
    const { queue } = this;
    switch (outcome) {
      case "gone":
        this.#wiring.doubts.forget(key);
        this.#wiring.times.forget(key);
        queue.done(key);
        queue.forget(key);
        return undefined;
      case "done":
      case "paused":
      case "stopped": {
        const next = after === undefined ? undefined : Math.max(after, this.#hotLoops?.delay(key) ?? 0);
        queue.done(key, { after: next });
        return next;
      }
      case "permanent":
      case "external":
        queue.done(key, { after });
        return after;
      case "waiting":
        if (after === undefined) return queue.retry(key);
        queue.done(key, { after });
        return after;
      case "conflict":
        return queue.retry(key);
      case "transient":
        return queue.retry(key, after);
    }
  }
}

/** How a reconcile ended, by itself or by an error. */
type End = Pick<ReconcileEnd, "outcome" | "error"> & { after?: number };
