import type { Client } from "@konverge/client";
import { type KindRef, type KubeObject, keyOf, type ObjectKey } from "@konverge/core";
import { Indexes, type IndexFunction } from "./indexes.ts";
import { ObjectStore } from "./object-store.ts";
import { type OwnFields, ownFieldsOf } from "./own-fields.ts";
import { compareVersions } from "./resource-version.ts";
import { UnconfirmedWrites } from "./unconfirmed-writes.ts";

/** Which objects of a kind are cached. */
export interface Scope {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface InformerOptions<T extends KubeObject> extends Scope {
  /** The field managers of which to remember what they applied. */
  managers?: ReadonlySet<string>;
  /** Keep metadata.managedFields. Default: they are dropped. */
  managedFields?: boolean;
  /** What to keep of an object. Must keep metadata's name, namespace, uid and resourceVersion. */
  project?: (object: T) => T;
}

/** Something became different in the cache. */
export interface Change<T extends KubeObject> {
  readonly type: "added" | "changed" | "deleted";
  readonly key: ObjectKey;
  /** As it is now; of a deleted object the last state that is known. */
  readonly object: T;
  /** As it was before; undefined if it was not there. */
  readonly before: T | undefined;
  /** Part of a listing: it may have been so for long. */
  readonly listed: boolean;
  /** Who of us wrote it, if one of us did: the change is known from the answer to the write. */
  readonly writer: string | undefined;
}

export type ChangeListener<T extends KubeObject> = (change: Change<T>) => void;

/**
 * The objects of one kind and scope, kept up to date by a watch.
 *
 * Flow: watch events and the answers to our own writes → store → {@link Change} to the listeners.
 *
 * Guarantees
 * - What is read is never older than what was read before, nor than the answer to a write that was noted
 *   ({@link wrote}, {@link deleted}); an object that we deleted does not come back unless it is created anew.
 * - A listener hears of every difference between two reads, in order. It hears of all that is there when it subscribes.
 * - Objects are frozen.
 *
 * Assumptions: resource versions of one kind grow.
 */
export class Informer<T extends KubeObject> {
  readonly kind: KindRef<T>;
  readonly #client: Client;
  readonly #options: InformerOptions<T>;
  readonly #store = new ObjectStore<T>();
  readonly #indexes = new Indexes<T>();
  readonly #listeners = new Set<ChangeListener<T>>();
  readonly #unconfirmed = new UnconfirmedWrites();
  /** During a listing: the keys it has not mentioned yet. */
  #unmentioned: Set<ObjectKey> | undefined;
  /** All that happened up to this version is in the store; undefined during a listing. */
  #version: string | undefined;
  #synced = false;
  #whenSynced = Promise.withResolvers<void>();
  #stop: AbortController | undefined;
  #age: () => number = () => Number.POSITIVE_INFINITY;
  #error: Error | undefined;

  constructor(client: Client, kind: KindRef<T>, options: InformerOptions<T> = {}) {
    this.#client = client;
    this.kind = kind;
    this.#options = options;
  }

  /** True once a listing has been complete. It stays true: what is known later may be old, but never partial. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Milliseconds since the server last gave a sign of life. */
  get age(): number {
    return this.#age();
  }

  /** Why the watch does not get on, if it does not. */
  get error(): Error | undefined {
    return this.#error;
  }

  get size(): number {
    return this.#store.size;
  }

  get bytes(): number {
    return this.#store.bytes;
  }

  /** Starts the watch, once. */
  start(): void {
    if (this.#stop) return;
    this.#stop = new AbortController();
    this.#run(this.#stop.signal).catch((error: unknown) => {
      this.#error = error instanceof Error ? error : new Error(String(error));
      this.#whenSynced.reject(this.#error);
    });
    this.#whenSynced.promise.catch(() => {});
  }

  stop(): void {
    this.#stop?.abort();
  }

  /** Resolves when the first listing is complete; rejects if the server will never give one. */
  whenSynced(): Promise<void> {
    return this.#whenSynced.promise;
  }

  get(key: ObjectKey): T | undefined {
    return this.#store.get(key);
  }

  /** What a field manager of ours has applied to an object. */
  ownFields(key: ObjectKey, manager: string): OwnFields | undefined {
    return this.#store.entry(key)?.own?.get(manager);
  }

  *list(namespace?: string): IterableIterator<T> {
    const prefix = namespace === undefined ? "" : `${namespace}/`;
    for (const key of this.#store.keys()) if (key.startsWith(prefix)) yield this.#store.get(key)!;
  }

  keys(): IterableIterator<ObjectKey> {
    return this.#store.keys();
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (!this.#indexes.add(name, valuesOf)) return;
    for (const key of this.#store.keys()) this.#indexes.set(key, this.#store.get(key)!);
  }

  find(index: string, value: string): T[] {
    return [...this.#indexes.find(index, value)].map((key) => this.#store.get(key)!);
  }

  subscribe(listener: ChangeListener<T>): () => void {
    this.#listeners.add(listener);
    for (const key of this.#store.keys()) {
      const object = this.#store.get(key)!;
      listener({ type: "added", key, object, before: undefined, listed: true, writer: undefined });
    }
    return () => this.#listeners.delete(listener);
  }

  /** Notes the answer to a write of ours. */
  wrote(object: T, writer: string): void {
    const key = keyOf(object);
    const { uid = "", resourceVersion = "" } = object.metadata;
    // What the watch has shown already includes this write, and perhaps what others did since.
    if (compareVersions(resourceVersion, this.#version) <= 0) return;
    if (this.#unconfirmed.isDeleted(key, uid) || !this.#isNews(key, resourceVersion)) return;
    this.#unconfirmed.wrote(key, resourceVersion);
    this.#put(key, object, { listed: false, writer });
  }

  /** Notes that the server has carried out a deletion of ours. */
  deleted(key: ObjectKey, uid: string, writer: string): void {
    this.#unconfirmed.deleted(key, uid);
    if (this.#store.entry(key)?.uid === uid) this.#remove(key, undefined, { listed: false, writer });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    const watch = this.#client.watch(this.kind, { namespace, labelSelector, fieldSelector, signal });
    this.#age = () => watch.age;
    for await (const event of watch) {
      switch (event.type) {
        case "RESET":
          this.#unmentioned = new Set(this.#store.keys());
          this.#version = undefined;
          break;
        case "ADDED":
        case "MODIFIED":
          this.#seen(event.object);
          break;
        case "DELETED":
          this.#gone(event.object);
          break;
        case "SYNCED":
          this.#complete(event.resourceVersion);
          break;
        case "BOOKMARK":
          this.#error = undefined;
          this.#version = event.resourceVersion;
          this.#release(this.#unconfirmed.bookmark(event.resourceVersion));
          break;
        case "ERROR":
          this.#error = event.error;
      }
    }
  }

  #seen(object: T): void {
    const key = keyOf(object);
    const { uid = "", resourceVersion = "" } = object.metadata;
    const listed = this.#unmentioned !== undefined;
    this.#unmentioned?.delete(key);
    this.#unconfirmed.confirm(key, resourceVersion);
    if (!listed) this.#passed(resourceVersion);
    if (this.#unconfirmed.isDeleted(key, uid) || !this.#isNews(key, resourceVersion)) return;
    this.#put(key, object, { listed, writer: undefined });
  }

  #gone(object: T): void {
    const key = keyOf(object);
    const { uid = "", resourceVersion = "" } = object.metadata;
    this.#unmentioned?.delete(key);
    this.#unconfirmed.confirmDeletion(key, uid, resourceVersion);
    if (!this.#unmentioned) this.#passed(resourceVersion);
    // A deletion that is older than what is known is that of an earlier object of the same name.
    if (!this.#isNews(key, resourceVersion)) return;
    this.#remove(key, object, { listed: false, writer: undefined });
  }

  #complete(resourceVersion: string): void {
    for (const key of this.#unmentioned ?? []) {
      if (!this.#unconfirmed.isNewer(key, resourceVersion)) {
        this.#remove(key, undefined, { listed: true, writer: undefined });
      }
    }
    this.#unmentioned = undefined;
    this.#version = resourceVersion;
    this.#unconfirmed.passed(resourceVersion);
    this.#error = undefined;
    this.#synced = true;
    this.#whenSynced.resolve();
  }

  #passed(resourceVersion: string): void {
    this.#version = resourceVersion;
    this.#release(this.#unconfirmed.passed(resourceVersion));
  }

  /** Objects that we wrote, and of which the watch has nothing to say: they are not in scope. */
  #release(keys: readonly ObjectKey[]): void {
    for (const key of keys) this.#remove(key, undefined, { listed: false, writer: undefined });
  }

  #isNews(key: ObjectKey, resourceVersion: string): boolean {
    return compareVersions(resourceVersion, this.#store.entry(key)?.resourceVersion) > 0;
  }

  #put(key: ObjectKey, object: T, how: Pick<Change<T>, "listed" | "writer">): void {
    const before = this.#listeners.size > 0 ? this.#store.get(key) : undefined;
    const existed = this.#store.entry(key) !== undefined;
    this.#store.set(key, this.#trimmed(object), this.#ownFields(object));
    const now = this.#store.get(key)!;
    this.#indexes.set(key, now);
    this.#emit({ type: existed ? "changed" : "added", key, object: now, before, ...how });
  }

  #remove(key: ObjectKey, last: T | undefined, how: Pick<Change<T>, "listed" | "writer">): void {
    const before = this.#store.get(key);
    if (!before) return;
    this.#store.delete(key);
    this.#indexes.delete(key);
    this.#emit({ type: "deleted", key, object: last ? this.#trimmed(last) : before, before, ...how });
  }

  #emit(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }

  #trimmed(object: T): T {
    const { project, managedFields } = this.#options;
    const kept = project ? project(object) : object;
    if (managedFields || !kept.metadata.managedFields) return kept;
    const { managedFields: _, ...metadata } = kept.metadata;
    return { ...kept, metadata };
  }

  #ownFields(object: T): ReadonlyMap<string, OwnFields> | undefined {
    let own: Map<string, OwnFields> | undefined;
    for (const manager of this.#options.managers ?? []) {
      const fields = ownFieldsOf(object, manager);
      if (!fields) continue;
      own ??= new Map();
      own.set(manager, fields);
    }
    return own;
  }
}
