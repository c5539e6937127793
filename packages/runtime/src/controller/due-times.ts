import { createHash } from "node:crypto";
import { type Clock, type KubeObject, type ObjectKey, stringifyJson } from "@konverge/core";
import type { Recurrence } from "../definition/rhythm.ts";

interface Remembered {
  readonly uid: string | undefined;
  readonly seen: number;
  readonly done: Map<string, number>;
  essence?: { digest: string; since: number };
}

/**
 * What a controller's objects have to have done now and then, and when it was last done. It is remembered in this process
 * alone: after a restart an object counts as first seen.
 */
export class DueTimes {
  readonly #clock: Clock;
  readonly #remembered = new Map<ObjectKey, Remembered>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For one reconcile of an object. */
  forReconcile(key: ObjectKey, object: KubeObject): ReconcileTimes {
    return new ReconcileTimes(this.#clock, () => this.#of(key, object), object);
  }

  forget(key: ObjectKey): void {
    this.#remembered.delete(key);
  }

  /** Objects without timers cost nothing. An object that was deleted and created again is another one. */
  #of(key: ObjectKey, { metadata: { uid } }: KubeObject): Remembered {
    let remembered = this.#remembered.get(key);
    if (!remembered || remembered.uid !== uid) {
      remembered = { uid, seen: this.#clock.monotonic(), done: new Map() };
      this.#remembered.set(key, remembered);
    }
    return remembered;
  }
}

/** The timers that one reconcile used. What was due counts as done when the reconcile succeeds, and not before. */
export class ReconcileTimes {
  readonly #clock: Clock;
  readonly #remember: () => Remembered;
  readonly #object: KubeObject;
  #due: Set<string> | undefined;
  #next: number | undefined;

  constructor(clock: Clock, remember: () => Remembered, object: KubeObject) {
    this.#clock = clock;
    this.#remember = remember;
    this.#object = object;
  }

  isDue(name: string, rhythm: Recurrence): boolean {
    this.#due ??= new Set();
    if (this.#due.has(name)) return true;
    const wait = this.#wait(name, rhythm, this.#remember());
    if (wait <= 0) this.#due.add(name);
    const next = wait > 0 ? wait : rhythm.every;
    this.#next = Math.min(this.#next ?? next, next);
    return wait <= 0;
  }

  /** The reconcile succeeded. Returns the milliseconds until something is due again, if anything is. */
  settle(): number | undefined {
    for (const name of this.#due ?? []) this.#remember().done.set(name, this.#clock.monotonic());
    return this.#next;
  }

  #wait(name: string, { every, idle = 0, first = 0, ...rhythm }: Recurrence, remembered: Remembered): number {
    const now = this.#clock.monotonic();
    const quiet = idle > 0 ? idle - (now - this.#unchangedSince(remembered)) : 0;
    const done = remembered.done.get(name);
    const kept = rhythm.last === undefined ? Number.NaN : Date.parse(rhythm.last);
    const since = Number.isNaN(kept) ? done !== undefined && now - done : this.#clock.now() - kept;
    return Math.max(quiet, since === false ? first - (now - remembered.seen) : every - since);
  }

  #unchangedSince(remembered: Remembered): number {
    const { metadata, status: _, ...rest } = this.#object as KubeObject & { status?: unknown };
    const essence = { ...rest, labels: metadata.labels, annotations: metadata.annotations, uid: metadata.uid };
    const digest = createHash("sha1").update(stringifyJson(essence)).digest("base64");
    if (remembered.essence?.digest !== digest) remembered.essence = { digest, since: this.#clock.monotonic() };
    return remembered.essence.since;
  }
}
