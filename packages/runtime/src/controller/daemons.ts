import {
  type BackoffLimits,
  backoffAfter,
  deepEqual,
  type KubeObject,
  keyOf,
  type ObjectKey,
  sleep,
} from "@konverge/core";
import { reconcileClient } from "../calls/reconcile-client.ts";
import type { Daemon, DaemonContext } from "../definition/daemon.ts";
import { ExternalError, PermanentError } from "../errors.ts";
import type { Permit } from "../leadership/authority.ts";
import type { Log } from "../log.ts";
import { attempt } from "./attempt.ts";
import type { Wiring } from "./wiring.ts";

interface Running {
  readonly uid: string | undefined;
  readonly basis: unknown;
  readonly generation: number | undefined;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  /** It came to its end by itself, or failed for good: it stays here so that it is not begun again. */
  over: "finished" | "failed" | undefined;
}

const BACKOFF: BackoffLimits = { initial: 1_000, longest: 300_000 };

/**
 * The daemons of one controller's objects.
 *
 * Guarantees
 * - Of each daemon there is at most one at a time for an object, also among replicas: it holds the right to act on the key
 *   for as long as it runs, so a lease is handed over only when it has ended, and sends nothing when the lease is lost.
 * - An object goes only when its daemons have ended, for which it has a finalizer.
 * - One that does not heed its signal is abandoned after some seconds: its client sends nothing any more.
 */
export class Daemons {
  readonly #wiring: Wiring;
  readonly #daemons: Readonly<Record<string, Daemon>>;
  readonly #wake: (key: ObjectKey) => void;
  readonly #running = new Map<ObjectKey, Map<string, Running>>();

  /** `wake` has an object reconciled. */
  constructor(wiring: Wiring, daemons: Readonly<Record<string, Daemon>>, wake: (key: ObjectKey) => void) {
    this.#wiring = wiring;
    this.#daemons = daemons;
    this.#wake = wake;
  }

  /** Starts what should run for the object and stops what should not. */
  tend(object: KubeObject): void {
    const key = keyOf(object);
    for (const [name, daemon] of Object.entries(this.#daemons)) {
      const running = this.#running.get(key)?.get(name);
      const wanted = daemon.when?.(object) ?? true;
      if (!running) {
        if (wanted) this.#start(name, daemon, object);
      } else if (!wanted || this.#isOutdated(running, daemon, object)) {
        running.stop.abort(new Error(`${name} is no longer requested in this form`));
        // The next reconcile starts it again, when this one has ended.
        if (wanted) void running.ended.then(() => this.#wake(key));
        if (running.over) this.#forget(key, name);
      }
    }
  }

  /** Stops all daemons of an object. */
  async stop(key: ObjectKey): Promise<void> {
    const all = [...(this.#running.get(key)?.values() ?? [])];
    for (const { stop } of all) stop.abort(new Error("the object is being deleted, or paused"));
    await Promise.all(all.map(({ ended }) => ended));
    this.#running.delete(key);
  }

  /** How many objects each daemon runs for: all of them, also those that run for none. */
  running(): Record<string, number> {
    const counts = Object.fromEntries(Object.keys(this.#daemons).map((name) => [name, 0]));
    for (const all of this.#running.values()) {
      for (const [name, { over }] of all) if (!over) counts[name]! += 1;
    }
    return counts;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((key) => this.stop(key)));
  }

  #isOutdated(running: Running, daemon: Daemon, object: KubeObject): boolean {
    if (running.uid !== object.metadata.uid || !deepEqual(running.basis, daemon.basis?.(object))) return true;
    return running.over === "failed" && running.generation !== object.metadata.generation;
  }

  #start(name: string, daemon: Daemon, object: KubeObject): void {
    const key = keyOf(object);
    const permit = this.#wiring.cluster.authority.begin(key);
    if (!permit) return;
    const stop = new AbortController();
    const done = Promise.withResolvers<void>();
    const running: Running = {
      uid: object.metadata.uid,
      basis: daemon.basis?.(object),
      generation: object.metadata.generation,
      stop,
      ended: done.promise,
      over: undefined,
    };
    let all = this.#running.get(key);
    if (!all) {
      all = new Map();
      this.#running.set(key, all);
    }
    all.set(name, running);
    void this.#run({ name, daemon, object, stop: stop.signal, permit }).then((over) => {
      running.over = over;
      permit.end();
      if (!over && this.#running.get(key)?.get(name) === running) this.#forget(key, name);
      done.resolve();
    });
  }

  #forget(key: ObjectKey, name: string): void {
    const all = this.#running.get(key);
    all?.delete(name);
    if (all?.size === 0) this.#running.delete(key);
  }

  /** Runs it until it ends by itself or must end. */
  async #run(one: OneDaemon): Promise<Running["over"]> {
    const { clock } = this.#wiring.cluster;
    const { name, daemon, permit } = one;
    const key = keyOf(one.object);
    const log = this.#wiring.log.child({ object: key, daemon: name });
    const limits = { ...BACKOFF, ...daemon.backoff };
    const ending = [one.stop, permit.signal, permit.leaving];
    const isOver = () => ending.some((signal) => signal?.aborted);
    let failures = 0;
    log.debug({}, `daemon ${name} begins`);
    while (!isOver()) {
      const started = clock.monotonic();
      try {
        const object = this.#wiring.view.get(key) ?? one.object;
        await attempt((signal) => daemon.run(object, this.#context(object, signal, permit, log)), {
          clock,
          deadline: Number.POSITIVE_INFINITY,
          signals: ending,
          label: `${this.#wiring.definition.name}: daemon ${name} of ${key}`,
        });
        return isOver() ? undefined : "finished";
      } catch (error) {
        if (isOver()) return undefined;
        const message = `daemon ${name} failed: ${error instanceof Error ? error.message : String(error)}`;
        log.warn({ err: error, failures }, message);
        this.#wiring.events.about(one.object).warning("DaemonFailed", message, { action: "Daemon" });
        if (error instanceof PermanentError) return "failed";
        // What ran for long was not at fault in the beginning.
        if (clock.monotonic() - started > limits.longest) failures = 0;
        const before = failures++;
        const wait = error instanceof ExternalError ? error.requeueAfter : backoffAfter(before, limits, clock.random);
        await anyOf(ending, (signal) => sleep(clock, wait, { signal, background: true, label: `daemon ${name}` }));
      }
    }
    return undefined;
  }

  #context(object: KubeObject, signal: AbortSignal, permit: Permit, log: Log): DaemonContext {
    const { cluster, events, view, doubts, definition } = this.#wiring;
    const { client, cache, clock } = cluster;
    const key = keyOf(object);
    const scope = { writer: definition.name, key, signal, permit };
    return {
      signal,
      client: reconcileClient(scope, { client, cache, doubts }),
      events: events.about(object),
      log,
      clock,
      latest() {
        const now = view.get(key);
        return now?.metadata.uid === object.metadata.uid ? now : undefined;
      },
      requeue: () => this.#wake(key),
      sleep: (ms) => sleep(clock, ms, { signal, background: true, label: "daemon" }),
    };
  }
}

interface OneDaemon {
  name: string;
  daemon: Daemon;
  object: KubeObject;
  stop: AbortSignal;
  permit: Permit;
}

/** Waits until it is over or one of the signals fires. */
async function anyOf(signals: readonly (AbortSignal | undefined)[], wait: (signal: AbortSignal) => Promise<void>) {
  const over = new AbortController();
  const end = () => over.abort();
  for (const signal of signals) signal?.addEventListener("abort", end, { once: true });
  if (signals.some((signal) => signal?.aborted)) end();
  await wait(over.signal).catch(() => {});
  for (const signal of signals) signal?.removeEventListener("abort", end);
}
