import type { Client, WatchOptions } from "@konverge/client";
import { compareVersions, type KindRef, type KubeObject, keyOf, type ObjectKey } from "@konverge/core";
import type { CacheChange, CacheChangeListener } from "./change.ts";
import { defaulted } from "./defaulted.ts";
import { ExpectedAnswers, type ObjectEvent } from "./expected-answers.ts";
import { FieldSetPool, type OwnFields } from "./field-set-pool.ts";
import { Indexes, type IndexFunction } from "./indexes.ts";
import { type Entry, ObjectStore } from "./object-store.ts";
import { ParsedStore } from "./parsed-store.ts";
import { withoutManagedFields } from "./projection.ts";
import { type Selection, selectionOf, type WatchScope } from "./selection.ts";
import { UnconfirmedWrites } from "./unconfirmed-writes.ts";

export interface InformerOptions<T extends KubeObject> extends WatchScope {
  /** The field managers of which to remember what they applied. */
  managers?: ReadonlySet<string>;
  /** What to keep of an object; at least name, namespace, uid and resourceVersion. Default: all but managedFields. */
  project?: (object: T) => T;
  /** Keep the objects parsed: see {@link CacheOptions.parsed}. */
  parsed?: boolean;
  watch?: Pick<WatchOptions, "listing" | "pageSize" | "inactivity">;
  /** Called when the watch fails, with the delay of the retry. */
  onError?: (error: Error, retryIn: number) => void;
  /** Called when a listing is complete. */
  onSynced?: () => void;
}

type How = Pick<CacheChange, "listed" | "writer">;

/**
 * The cached objects of one kind and scope, kept up to date by a watch.
 *
 * Flow: watch events and the answers to our own writes → store → {@link CacheChange} to the listeners.
 *
 * Guarantees
 * - What is read is never older than what was read before, nor than the answer to a write that was noted ({@link saw},
 *   {@link missed}); an object that we deleted does not come back unless it is created again.
 * - What is read is in scope, as far as the object itself tells: also what we wrote, and what a write of ours took out.
 * - A listener is called for every difference between two reads, in order, and for all existing objects when it
 *   subscribes.
 * - Objects that are read are frozen, and have the defaults of their kind's definition.
 *
 * Assumptions: resource versions of one kind grow.
 */
export class Informer<T extends KubeObject> {
  readonly kind: KindRef<T>;
  readonly scope: WatchScope;
  readonly #client: Client;
  readonly #options: InformerOptions<T>;
  readonly #selection: Selection;
  readonly #store: ObjectStore<T> | ParsedStore<T>;
  readonly #indexes = new Indexes<T>();
  readonly #fieldSets = new FieldSetPool();
  readonly #listeners = new Set<CacheChangeListener<T>>();
  readonly #unconfirmed = new UnconfirmedWrites();
  readonly #expected = new ExpectedAnswers<T>();
  readonly #whenSynced = Promise.withResolvers<void>();
  /** During a listing: the keys it has not mentioned yet. */
  #unmentioned: Set<ObjectKey> | undefined;
  /** All that happened up to this version is in the store; undefined during a listing. */
  #version: string | undefined;
  #synced = false;
  #stop: AbortController | undefined;
  #suspended = false;
  #age: () => number = () => Number.POSITIVE_INFINITY;
  #error: Error | undefined;
  /** When the last complete listing began, and the one in progress. */
  #listedAt = Number.NEGATIVE_INFINITY;
  #listingSince = Number.NEGATIVE_INFINITY;
  /** When the watch last had something to say. Requests that it made since were sent after that. */
  #quietSince = Number.NEGATIVE_INFINITY;

  constructor(client: Client, kind: KindRef<T>, options: InformerOptions<T> = {}) {
    const { namespace, labelSelector, fieldSelector } = options;
    this.kind = kind;
    this.scope = { namespace, labelSelector, fieldSelector };
    this.#client = client;
    this.#options = options;
    this.#selection = selectionOf(kind as unknown as KindRef<KubeObject>, this.scope);
    this.#store = options.parsed ? new ParsedStore() : new ObjectStore();
    this.#whenSynced.promise.catch(() => {});
  }

  /** True after the first complete listing. It stays true: later the cache can be old, but never partial. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Milliseconds since the server last sent something. */
  get age(): number {
    return this.#age();
  }

  /** The version of the server's state that is known; undefined before the first listing and during others. */
  get resourceVersion(): string | undefined {
    return this.#version;
  }

  /** When the last complete listing began, on the monotonic clock. */
  get listedAt(): number {
    return this.#listedAt;
  }

  /** The last error of the watch, if it fails. */
  get error(): Error | undefined {
    return this.#error;
  }

  get size(): number {
    return this.#store.size;
  }

  /** Bytes that the objects take. */
  get bytes(): number {
    return this.#store.bytes;
  }

  /** Starts the watch, once, or again after it was suspended. */
  start(): void {
    if (this.#stop) return;
    this.#stop = new AbortController();
    this.#suspended = false;
    this.#run(this.#stop.signal).catch((error: unknown) => {
      this.#error = error instanceof Error ? error : new Error(String(error));
      this.#options.onError?.(this.#error, Number.POSITIVE_INFINITY);
      this.#whenSynced.reject(this.#error);
    });
  }

  /** Ends the watch, and drops all objects as deleted, until it is started again: their kind is not served. */
  suspend(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#suspended = true;
    this.#synced = false;
    this.#error = undefined;
    this.#unmentioned = undefined;
    this.#version = undefined;
    this.#listedAt = Number.NEGATIVE_INFINITY;
    for (const key of [...this.#store.keys()]) this.#remove(key, undefined, { listed: false, writer: undefined });
  }

  stop(): void {
    this.#stop ??= new AbortController();
    this.#stop.abort();
    this.#listeners.clear();
    this.#whenSynced.reject(new Error(`the watch of ${this.kind.kind} was stopped`));
  }

  /** Resolves when the first listing is complete; rejects if there will never be one. */
  whenSynced(): Promise<void> {
    return this.#whenSynced.promise;
  }

  get(key: ObjectKey): T | undefined {
    return this.#store.get(key);
  }

  /** The fields that field managers of this process have applied to an object. */
  own(key: ObjectKey): OwnFields | undefined {
    return this.#store.entry(key)?.own;
  }

  keys(): IterableIterator<ObjectKey> {
    return this.#store.keys();
  }

  addIndex(valuesOf: IndexFunction<T>): void {
    if (!this.#indexes.add(valuesOf)) return;
    for (const key of this.#store.keys()) this.#indexes.set(key, this.#store.get(key)!);
  }

  removeIndex(valuesOf: IndexFunction<T>): void {
    this.#indexes.remove(valuesOf);
  }

  /** The keys that an index, which has been added, has under a value. */
  find(index: IndexFunction<T>, value: string): Iterable<ObjectKey> {
    return this.#indexes.find(index, value);
  }

  subscribe(listener: CacheChangeListener<T>): () => void {
    this.#listeners.add(listener);
    for (const key of this.#store.keys()) {
      const object = this.#store.get(key)!;
      listener({ type: "added", key, object, before: undefined, listed: true, writer: undefined });
    }
    return () => this.#listeners.delete(listener);
  }

  /**
   * An own write is in progress. Watch events of the object are deferred until its response arrives, because they can
   * be the echo of that write. Call the returned function when the write has ended.
   */
  expect(key: ObjectKey): () => void {
    return this.#expected.expect(key, (event) => this.#take(event));
  }

  /** Stores the response to an own write, or (without a writer) to a read without the cache. */
  saw(object: T, writer: string | undefined): void {
    if (this.#suspended) return;
    const key = keyOf(object);
    const { uid = "", resourceVersion = "" } = object.metadata;
    const [putOff] = this.#expected.putOffOf(key);
    if (putOff) {
      // Up to what is put off all is known. An answer from before that is no news, but what is put off is.
      if (compareVersions(resourceVersion, putOff.object.metadata.resourceVersion) < 0) {
        this.#expected.flush((event) => this.#take(event), key);
        return;
      }
    } else if (compareVersions(resourceVersion, this.#version) <= 0) {
      // What the watch has shown already includes this write, and perhaps what others did since.
      return;
    }
    if (this.#unconfirmed.isDeleted(key, uid, resourceVersion) || !this.#isNews(key, resourceVersion)) return;
    this.#unconfirmed.wrote(key, uid, resourceVersion);
    // What is not known of an object stays unchanged until the next watch event.
    if (!(this.#selection(object) ?? this.#store.entry(key) !== undefined)) {
      this.#remove(key, object, { listed: false, writer });
      return;
    }
    // The caller has the object as well, and can change it.
    this.#put(key, object, { listed: false, writer }, false);
  }

  /** Stores that an object is gone: because of an own deletion, or because a read without the cache did not find it. */
  missed(key: ObjectKey, uid: string, writer: string | undefined): void {
    const known = this.#store.get(key)?.metadata;
    const isKnown = known?.uid === uid;
    this.#unconfirmed.deleted(key, uid, isKnown ? known.resourceVersion : undefined);
    if (isKnown) this.#remove(key, undefined, { listed: false, writer });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const watch = this.#client.watch(this.kind, { ...this.#options.watch, ...this.scope, signal });
    this.#age = () => watch.age;
    const { clock } = this.#client;
    this.#quietSince = clock.monotonic();
    for await (const event of watch) {
      if (signal.aborted) return;
      switch (event.type) {
        case "RESET":
          this.#expected.flush((one) => this.#take(one));
          this.#unmentioned = new Set(this.#store.keys());
          this.#version = undefined;
          this.#listingSince = this.#quietSince;
          break;
        case "ADDED":
        case "MODIFIED":
        case "DELETED":
          if (!this.#expected.putOff(event)) this.#take(event);
          break;
        case "SYNCED":
          this.#expected.flush((one) => this.#take(one));
          this.#complete(event.resourceVersion);
          break;
        case "BOOKMARK":
          this.#error = undefined;
          this.#version = event.resourceVersion;
          this.#release(this.#unconfirmed.bookmark(event.resourceVersion, this.#isPutOff));
          break;
        case "ERROR":
          this.#error = event.error;
          this.#options.onError?.(event.error, event.retryIn);
      }
      this.#quietSince = clock.monotonic();
    }
  }

  #take({ type, object }: ObjectEvent<T>): void {
    if (this.#suspended) return;
    this.#unconfirmed.confirm(keyOf(object), object.metadata.resourceVersion ?? "");
    if (type === "DELETED") this.#gone(object);
    else this.#seen(object);
  }

  #seen(object: T): void {
    const key = keyOf(object);
    const { uid = "", resourceVersion = "" } = object.metadata;
    const listed = this.#unmentioned !== undefined;
    this.#unmentioned?.delete(key);
    if (!listed) this.#passed(resourceVersion);
    if (this.#unconfirmed.isDeleted(key, uid, resourceVersion) || !this.#isNews(key, resourceVersion)) return;
    this.#put(key, object, { listed, writer: undefined }, !listed);
  }

  #gone(object: T): void {
    const key = keyOf(object);
    const { uid = "", resourceVersion = "" } = object.metadata;
    this.#unmentioned?.delete(key);
    // With a selector it may only have left; a uid never comes back, so that its tombstone can wait for bookmarks.
    if (!this.scope.labelSelector && !this.scope.fieldSelector) this.#unconfirmed.confirmDeletion(key, uid);
    if (!this.#unmentioned) this.#passed(resourceVersion);
    // A deletion that is older than what is known is that of an earlier object of the same name.
    if (this.#isNews(key, resourceVersion)) this.#remove(key, object, { listed: false, writer: undefined });
  }

  #complete(resourceVersion: string): void {
    for (const key of this.#unmentioned ?? []) {
      // What we wrote after the listing was made cannot be in it.
      if (this.#unconfirmed.isNewer(key, resourceVersion)) continue;
      this.#remove(key, undefined, { listed: true, writer: undefined });
    }
    this.#unmentioned = undefined;
    this.#version = resourceVersion;
    this.#listedAt = this.#listingSince;
    this.#unconfirmed.passed(resourceVersion);
    this.#error = undefined;
    this.#synced = true;
    this.#whenSynced.resolve();
    this.#options.onSynced?.();
  }

  #passed(resourceVersion: string): void {
    // Deferred events arrive late: newer state has been shown by then.
    if (compareVersions(resourceVersion, this.#version) > 0) this.#version = resourceVersion;
    this.#release(this.#unconfirmed.passed(resourceVersion, this.#isPutOff));
  }

  /**
   * Objects that we wrote, and of which the watch has nothing to say: they are not in scope.
   */
  #release(keys: readonly ObjectKey[]): void {
    for (const key of keys) this.#remove(key, undefined, { listed: false, writer: undefined });
  }

  /** The watch has said something about the object that is put off: that will tell. */
  readonly #isPutOff = (key: ObjectKey): boolean => this.#expected.putOffOf(key).length > 0;

  /** Neither read before nor from before a write of ours, which may have taken the object out of scope. */
  #isNews(key: ObjectKey, resourceVersion: string): boolean {
    if (this.#unconfirmed.isNewer(key, resourceVersion)) return false;
    return compareVersions(resourceVersion, this.#store.entry(key)?.resourceVersion) > 0;
  }

  /** `hot`: it will be read soon, and nothing else references it. */
  #put(key: ObjectKey, given: T, how: How, hot: boolean): void {
    const known = this.#store.entry(key);
    const before = this.#store.atHand(key);
    const own = this.#options.managers && this.#fieldSets.take(given, this.#options.managers);
    const object = this.#projected(given);
    this.#fieldSets.release(known?.own);
    this.#store.set(key, object, { own, hot });
    this.#indexes.set(key, object);
    this.#emit(known ? "changed" : "added", key, this.#store.atHand(key) ?? object, known, how, before);
  }

  #remove(key: ObjectKey, last: T | undefined, how: How): void {
    const known = this.#store.entry(key);
    if (!known) return;
    this.#fieldSets.release(known.own);
    this.#store.delete(key);
    this.#indexes.delete(key);
    if (this.#listeners.size === 0) return;
    this.#emit("deleted", key, last ? this.#projected(last) : this.#store.read(known as never), known, how);
  }

  /** `before`: what is known, if it is at hand. */
  #emit(type: CacheChange["type"], key: ObjectKey, object: T, known: Entry | undefined, how: How, before?: T): void {
    if (this.#listeners.size === 0) return;
    const store = this.#store;
    const change: CacheChange<T> = {
      type,
      key,
      object,
      get before() {
        if (known) before ??= store.read(known as never);
        return before;
      },
      ...how,
    };
    for (const listener of this.#listeners) listener(change);
  }

  #projected(object: T): T {
    return (this.#options.project ?? withoutManagedFields)(defaulted(this.kind, object));
  }
}
