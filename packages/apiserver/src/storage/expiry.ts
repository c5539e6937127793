import type { Clock, Timer } from "@konverge/core";
import type { Entry } from "./entry.ts";
import type { EntryContent, Store } from "./store.ts";

/** What expires, and when. */
export interface ExpiryOptions {
  readonly resource: string;
  /** Milliseconds after the last write. */
  readonly ttl: number;
}

/**
 * Removes objects some time after they were last written. Watchers see them go like any other. Where a store begins with
 * an earlier state, its objects have all their time before them.
 */
export class Expiry {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #options: ExpiryOptions;
  /** When each object goes, soonest first: a write puts it at the end. */
  readonly #due = new Map<string, number>();
  readonly #leave: () => void;
  #observed: number;
  #epoch: number;
  #timer: Timer | undefined;

  constructor(store: Store, clock: Clock, options: ExpiryOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#options = options;
    this.#observed = store.revision;
    this.#epoch = store.epoch;
    this.#leave = store.onChange(options.resource, () => this.#follow());
    this.#takeAll();
  }

  close(): void {
    this.#leave();
    this.#timer?.cancel();
  }

  #takeAll(): void {
    const { resource, ttl } = this.#options;
    this.#due.clear();
    const due = this.#clock.monotonic() + ttl;
    for (const { key } of this.#store.collection(resource).scan("")) this.#due.set(key, due);
    this.#set();
  }

  #follow(): void {
    const { resource, ttl } = this.#options;
    const changes = this.#store.collection(resource).changesAfter(this.#observed);
    const isSame = this.#epoch === this.#store.epoch;
    this.#observed = this.#store.revision;
    this.#epoch = this.#store.epoch;
    if (!changes || !isSame) {
      this.#takeAll();
      return;
    }
    const due = this.#clock.monotonic() + ttl;
    for (const { key, deleted } of changes) {
      this.#due.delete(key);
      if (!deleted) this.#due.set(key, due);
    }
    this.#set();
  }

  /** One timer, for the object that goes next. */
  #set(): void {
    if (this.#timer) return;
    for (const due of this.#due.values()) {
      const wait = Math.max(0, due - this.#clock.monotonic());
      this.#timer = this.#clock.after(wait, () => this.#remove(), { label: "expiry", background: true });
      return;
    }
  }

  #remove(): void {
    this.#timer = undefined;
    const { resource } = this.#options;
    const now = this.#clock.monotonic();
    // Those that go are taken out of it on the way, here and by their own change: both leave the order as it is.
    for (const [key, due] of this.#due) {
      if (due > now) break;
      this.#due.delete(key);
      const entry = this.#store.collection(resource).get(key);
      if (entry) this.#store.remove(resource, key, (revision) => lastState(entry, revision));
    }
    this.#set();
  }
}

/**
 * An object as its watchers see it go: unchanged, but for its version. That is the first in the text of a built-in kind,
 * where only names and the uid come before it.
 */
function lastState({ text, revision: before, uid, labels, fields }: Entry, revision: number): EntryContent {
  const last = text.replace(`"resourceVersion":"${before}"`, `"resourceVersion":"${revision}"`);
  return { text: last, uid, labels, fields };
}
