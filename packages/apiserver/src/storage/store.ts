import type { Clock } from "@konverge/core";
import { type Change, Collection, type Entry } from "./collection.ts";

/** What a write hands in; the store adds the revision. */
export type EntryContent = Omit<Entry, "key" | "revision">;

/** Where changes are kept beyond the process. `append` returns when they will survive a crash of the process. */
export interface Journal {
  append(changes: readonly JournalRecord[]): void;
  close(): void;
}

export interface JournalRecord {
  resource: string;
  change: Change;
}

export interface StoreOptions {
  clock: Clock;
  journal?: Journal;
  /** How long watchers may lag, in milliseconds and in changes per resource. */
  history?: { ms: number; changes: number };
}

/** The whole state at one moment: cheap to take, because collections are shared until one side writes. */
export interface Snapshot {
  readonly revision: number;
  readonly collections: ReadonlyMap<string, Collection>;
}

/** As etcd under a real API server: compaction every five minutes. */
const DEFAULT_HISTORY = { ms: 5 * 60_000, changes: 100_000 };

/**
 * All state of the API server: one revision counter, a collection for each resource.
 *
 * Flow: a verb reads an entry, computes the next one and commits it with {@link put} or {@link remove}, without waiting in
 * between, so no other write can come in between. Waiting callers are woken when the change is durable.
 *
 * Guarantees: revisions grow by one with each change; watchers see every change once, in order, and only after it is
 * durable ({@link durable}); a snapshot never changes.
 *
 * Assumptions: one process writes. Verbs that must wait in the middle (admission webhooks) check the entry again before
 * they commit.
 */
export class Store {
  readonly #clock: Clock;
  readonly #journal: Journal | undefined;
  readonly #history: { ms: number; changes: number };
  #collections = new Map<string, Collection>();
  #shared = new Set<Collection>();
  #revision: number;
  #published: number;
  #pending: JournalRecord[] = [];
  #flush: PromiseWithResolvers<void> | undefined;
  #waiters = new Map<string, Set<() => void>>();
  #lastCompaction: number;

  constructor(options: StoreOptions, state?: Snapshot) {
    this.#clock = options.clock;
    this.#journal = options.journal;
    this.#history = options.history ?? DEFAULT_HISTORY;
    this.#revision = state?.revision ?? 1;
    this.#published = this.#revision;
    this.#lastCompaction = this.#clock.monotonic();
    if (state) this.restore(state);
  }

  /** The revision of the newest change. */
  get revision(): number {
    return this.#revision;
  }

  /** The newest revision that is durable, and so visible to watchers. */
  get published(): number {
    return this.#published;
  }

  collection(resource: string): Collection {
    let collection = this.#collections.get(resource);
    if (!collection) {
      collection = new Collection(0);
      this.#collections.set(resource, collection);
    }
    return collection;
  }

  resources(): Iterable<string> {
    return this.#collections.keys();
  }

  /** Creates or replaces. `content` is given the revision, which the object's text must carry. */
  put(resource: string, key: string, content: (revision: number) => EntryContent): Entry {
    const revision = this.#revision + 1;
    const entry: Entry = { key, revision, ...content(revision) };
    this.#commit(resource, { key, entry, deleted: false });
    return entry;
  }

  remove(resource: string, key: string, content: (revision: number) => EntryContent): Entry {
    const revision = this.#revision + 1;
    const entry: Entry = { key, revision, ...content(revision) };
    this.#commit(resource, { key, entry, deleted: true });
    return entry;
  }

  /** Resolves when everything committed so far is durable. Answers go out only after it. */
  durable(): Promise<void> | undefined {
    return this.#flush?.promise;
  }

  /** Calls back at the next durable change of a resource (or any wake-up); returns a function that stops waiting. */
  onChange(resource: string, wake: () => void): () => void {
    let waiters = this.#waiters.get(resource);
    if (!waiters) {
      waiters = new Set();
      this.#waiters.set(resource, waiters);
    }
    waiters.add(wake);
    return () => waiters.delete(wake);
  }

  snapshot(): Snapshot {
    for (const collection of this.#collections.values()) this.#shared.add(collection);
    return { revision: this.#revision, collections: new Map(this.#collections) };
  }

  /** Goes to another state; watchers find their position compacted or ahead, and list again. */
  restore(state: Snapshot): void {
    this.#collections = new Map(state.collections);
    this.#shared = new Set(state.collections.values());
    this.#revision = state.revision;
    this.#published = state.revision;
    for (const waiters of this.#waiters.values()) for (const wake of [...waiters]) wake();
  }

  /** Forgets old changes now; `at` is a wall-clock time in milliseconds. */
  compact(at: number = this.#clock.now() - this.#history.ms): void {
    this.#lastCompaction = this.#clock.monotonic();
    for (const resource of this.#collections.keys()) this.#own(resource).compact(at, this.#history.changes);
  }

  close(): void {
    this.#publish();
    this.#journal?.close();
  }

  #commit(resource: string, { key, entry, deleted }: { key: string; entry: Entry; deleted: boolean }): void {
    const collection = this.#own(resource);
    const previous = collection.get(key);
    const change: Change = { revision: entry.revision, key, entry, previous, deleted, at: this.#clock.now() };
    collection.apply(change);
    this.#revision = entry.revision;
    this.#pending.push({ resource, change });
    if (!this.#journal) this.#publish();
    else if (!this.#flush) {
      // One transaction for all writes of this turn of the event loop: their answers wait for it together.
      this.#flush = Promise.withResolvers();
      this.#clock.post(() => this.#publish(), "journal");
    }
    if (this.#clock.monotonic() - this.#lastCompaction > this.#history.ms / 5) this.compact();
  }

  #publish(): void {
    const batch = this.#pending;
    this.#pending = [];
    const flush = this.#flush;
    this.#flush = undefined;
    if (batch.length > 0) {
      try {
        this.#journal?.append(batch);
      } catch (error) {
        flush?.reject(error);
        throw error;
      }
      this.#published = batch[batch.length - 1]!.change.revision;
      for (const resource of new Set(batch.map((record) => record.resource))) {
        const waiters = this.#waiters.get(resource);
        if (waiters) for (const wake of [...waiters]) wake();
      }
    }
    flush?.resolve();
  }

  /** The collection, copied first if a snapshot shares it. */
  #own(resource: string): Collection {
    const collection = this.collection(resource);
    if (!this.#shared.has(collection)) return collection;
    const copy = new Collection(0, collection);
    this.#collections.set(resource, copy);
    return copy;
  }
}
