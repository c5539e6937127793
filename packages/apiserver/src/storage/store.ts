/**
 * All state of the API server, and its recent past.
 *
 * A {@link Store} has one revision counter and a collection of entries for each resource; a write commits a change, which
 * watchers see once it is durable. A {@link SqliteJournal} makes it outlive the process. Snapshots and forks take
 * microseconds, and can be saved as bytes.
 *
 * It promises that revisions only grow, that watchers get every change once and in order, and that nothing acknowledged is lost
 * when the process is killed (what holds after a power failure is said at {@link SqliteJournal}).
 */
import { ApiError, type Clock } from "@konverge/core";
import { Collection } from "./collection.ts";
import type { Entry, StoredChange } from "./entry.ts";
import { HistorySize } from "./history-size.ts";
import type { Journal, JournalRecord, Snapshot } from "./journal.ts";

export type { Snapshot } from "./journal.ts";

/** What a write hands in; the store adds the revision. */
export type EntryContent = Omit<Entry, "key" | "revision">;

/** What a store needs, and how much of the past it keeps. */
export interface StoreOptions {
  clock: Clock;
  /** Without one, the state ends with the process. */
  journal?: Journal;
  history?: StoreHistory;
}

/** How far back one can watch from, and list: whichever is least. */
export interface StoreHistory {
  ms: number;
  /** Revisions. */
  changes: number;
  /** Characters of the objects that were written. Default: 256 Mi, since large objects that change often would fill the memory. */
  characters?: number;
}

/** As etcd under a real API server: compaction every five minutes. */
const DEFAULT_HISTORY: StoreHistory = { ms: 5 * 60_000, changes: 100_000 };
const MOST_CHARACTERS = 256 * 1024 * 1024;

/**
 * All state of the API server: one revision counter, a collection for each resource.
 *
 * Flow: a verb reads an entry, computes the next one and commits it with {@link put} or {@link remove}, without waiting in
 * between, so no other write can come in between. Callers wait for {@link durable} before they answer.
 *
 * Guarantees: each change has a higher revision than all before it; watchers see every change once, in order, and only
 * after it is durable; a snapshot never changes. When the journal cannot keep a change, the state is as it was before it,
 * and all callers that wait for it get the error.
 *
 * Assumptions: one process writes. Verbs that must wait in the middle (admission webhooks) check the entry again before
 * they commit.
 */
export class Store {
  readonly #clock: Clock;
  readonly #journal: Journal | undefined;
  readonly #history: StoreHistory;
  readonly #historySize: HistorySize;
  #collections = new Map<string, Collection>();
  #revision = 1;
  #published = 1;
  #compacted = 0;
  /** What happened up to and including this revision is not known. */
  #origin = 0;
  #epoch = 0;
  #pending: JournalRecord[] = [];
  #flush: PromiseWithResolvers<void> | undefined;
  #waiters = new Map<string, Set<() => void>>();
  #lastCompaction: number;
  #lastChange = 0;

  /** Starts from `state` if it is given (and the journal then starts with it), else from what the journal kept. */
  constructor(options: StoreOptions, state?: Snapshot) {
    this.#clock = options.clock;
    this.#journal = options.journal;
    this.#history = options.history ?? DEFAULT_HISTORY;
    this.#historySize = new HistorySize(this.#history.characters ?? MOST_CHARACTERS);
    this.#lastCompaction = this.#clock.monotonic();
    if (state) this.#journal?.replace(state);
    const start = state ?? this.#journal?.load();
    if (!start) return;
    for (const [resource, collection] of start.collections) this.#collections.set(resource, collection.fork());
    this.#revision = start.revision;
    this.#published = start.revision;
    this.#compacted = start.compacted;
    this.#origin = start.compacted;
  }

  /** The revision of the newest change. */
  get revision(): number {
    return this.#revision;
  }

  /** The newest revision that is durable, and so visible to watchers. */
  get published(): number {
    return this.#published;
  }

  /** Before this revision there is no history of any resource. */
  get compacted(): number {
    return this.#compacted;
  }

  /**
   * Grows when the state was exchanged instead of changed ({@link restore}, a commit that failed): whatever is derived by
   * following changes must then be derived again.
   */
  get epoch(): number {
    return this.#epoch;
  }

  collection(resource: string): Collection {
    let collection = this.#collections.get(resource);
    if (!collection) {
      collection = new Collection(this.#origin);
      collection.compact(this.#compacted);
      this.#collections.set(resource, collection);
    }
    return collection;
  }

  resources(): Iterable<string> {
    return this.#collections.keys();
  }

  /** Creates or replaces. `content` is given the revision, which the object's text must carry. */
  put(resource: string, key: string, content: (revision: number) => EntryContent): Entry {
    return this.#commit(resource, key, content, false);
  }

  /** Removes what is there; the content is the object's last state, as watchers will see it. */
  remove(resource: string, key: string, content: (revision: number) => EntryContent): Entry {
    if (!this.collection(resource).get(key)) throw new Error(`there is no ${resource} ${key} to remove`);
    return this.#commit(resource, key, content, true);
  }

  /**
   * Resolves when everything committed so far is durable (undefined: it is); rejects when it was not kept. Answers go out
   * only after it.
   */
  durable(): Promise<void> | undefined {
    return this.#flush?.promise;
  }

  /** Calls back at each durable change of a resource (or any other wake-up); returns a function that ends this. */
  onChange(resource: string, wake: () => void): () => void {
    let waiters = this.#waiters.get(resource);
    if (!waiters) {
      waiters = new Set();
      this.#waiters.set(resource, waiters);
    }
    waiters.add(wake);
    return () => {
      waiters.delete(wake);
      if (waiters.size === 0 && this.#waiters.get(resource) === waiters) this.#waiters.delete(resource);
    };
  }

  snapshot(): Snapshot {
    this.#publish();
    const collections = new Map<string, Collection>();
    for (const [resource, collection] of this.#collections) collections.set(resource, collection.fork());
    return { revision: this.#revision, compacted: this.#compacted, collections };
  }

  /**
   * Goes to another state under the eyes of clients. Revisions never go back: the state comes in as one more revision,
   * and nothing is remembered from before it, so every watch expires, and its client lists again.
   */
  restore(state: Snapshot): void {
    this.#publish();
    const revision = Math.max(this.#revision, state.revision) + 1;
    const collections = new Map<string, Collection>();
    for (const [resource, collection] of state.collections) {
      const fork = collection.fork();
      fork.restart(revision);
      collections.set(resource, fork);
    }
    this.#journal?.replace({ revision, compacted: revision, collections });
    this.#collections = collections;
    this.#revision = revision;
    this.#published = revision;
    this.#compacted = revision;
    this.#origin = revision;
    this.#historySize.forget(revision);
    this.#epoch++;
    for (const resource of [...this.#waiters.keys()]) this.#wake(resource);
  }

  /** Forgets changes made before a wall-clock time in milliseconds; Infinity forgets them all. */
  compact(time: number = this.#clock.now() - this.#history.ms): void {
    this.#lastCompaction = this.#clock.monotonic();
    let target = this.#published - this.#history.changes;
    for (const collection of this.#collections.values()) target = Math.max(target, collection.newestBefore(time));
    this.#forget(time === Number.POSITIVE_INFINITY ? this.#published : target);
  }

  /** Forgets the changes up to and including a revision. */
  #forget(revision: number): void {
    // What is not durable yet may have to be taken back.
    const target = Math.min(revision, this.#published);
    if (target <= this.#compacted) return;
    this.#compacted = target;
    for (const collection of this.#collections.values()) collection.compact(target);
    this.#historySize.forget(target);
    this.#journal?.compact(target);
  }

  /**
   * Takes a revision that changes nothing, and forgets what was before it: as etcd does when it is compacted, whether or not
   * anything else was written.
   */
  compactIdle(): void {
    if (this.#revision !== this.#published) return;
    this.#revision++;
    this.#published = this.#revision;
    this.compact(Number.POSITIVE_INFINITY);
  }

  /** How long the past is kept, in milliseconds. */
  get historyMs(): number {
    return this.#history.ms;
  }

  /** Writes what is not yet durable, and releases the journal. */
  close(): void {
    this.#publish();
    this.#journal?.close();
  }

  #commit(resource: string, key: string, content: (revision: number) => EntryContent, deleted: boolean): Entry {
    const revision = this.#revision + 1;
    const entry: Entry = { key, revision, ...content(revision) };
    const collection = this.collection(resource);
    // The wall clock may jump back; the order of changes does not.
    this.#lastChange = Math.max(this.#lastChange, this.#clock.now());
    const change: StoredChange = {
      revision,
      key,
      entry,
      previous: collection.get(key),
      deleted,
      at: this.#lastChange,
    };
    collection.apply(change);
    this.#revision = revision;
    this.#pending.push({ resource, change });
    if (!this.#journal) this.#publish();
    else if (!this.#flush) {
      // One transaction for all writes of this turn of the event loop: their answers wait for it together.
      this.#flush = Promise.withResolvers();
      this.#flush.promise.catch(() => {});
      this.#clock.post(() => this.#publish(), "journal");
    }
    const excess = this.#historySize.add(revision, entry.text.length);
    if (excess !== undefined) this.#forget(excess);
    if (this.#clock.monotonic() - this.#lastCompaction > this.#history.ms / 5) this.compact();
    return entry;
  }

  #publish(): void {
    const batch = this.#pending;
    const flush = this.#flush;
    this.#pending = [];
    this.#flush = undefined;
    if (batch.length === 0) {
      flush?.resolve();
      return;
    }
    try {
      this.#journal?.append(batch);
    } catch (error) {
      for (const { resource } of batch.reverse()) this.collection(resource).revert();
      this.#epoch++;
      flush?.reject(notKept(error));
      return;
    }
    this.#published = batch[batch.length - 1]!.change.revision;
    flush?.resolve();
    if (batch.length === 1) this.#wake(batch[0]!.resource);
    else for (const resource of new Set(batch.map((record) => record.resource))) this.#wake(resource);
  }

  #wake(resource: string): void {
    const waiters = this.#waiters.get(resource);
    if (waiters) for (const wake of [...waiters]) wake();
  }
}

function notKept(cause: unknown): ApiError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ApiError({ code: 500, reason: "InternalError", message: `Internal error occurred: ${why}` }, { cause });
}
