import { type KindRef, type KubeObject, type ObjectKey, splitKey } from "@konverge/core";
import type { CacheChangeListener } from "./change.ts";
import type { OwnFields } from "./field-set-pool.ts";
import type { IndexFunction } from "./indexes.ts";
import type { Informer } from "./informer.ts";

/** Whether a kind that need not be installed is there. */
export interface KindAvailability {
  /** It is served, and has been listed. */
  readonly isOpen: boolean;
  /** Resolves when it is known that the kind is not served, or when it has been listed, or cannot be. */
  whenKnown(): Promise<void>;
  /** Calls `listener` whenever `isOpen` changes. */
  subscribe(listener: () => void): () => void;
}

/**
 * The objects of a kind for one user of the cache: the objects of one informer, or of one for each of some namespaces.
 * An informer stops when all its views are released.
 */
export class CacheView<T extends KubeObject> {
  readonly kind: KindRef<T>;
  readonly informers: readonly Informer<T>[];
  readonly #indexes = new Map<string, IndexFunction<T>>();
  readonly #unsubscribe: (() => void)[] = [];
  /** Of its informers, if the kind is optional. */
  readonly #gates: readonly KindAvailability[];
  #release: (() => void) | undefined;

  /** Without informers, it stays empty. */
  constructor(
    kind: KindRef<T>,
    informers: readonly Informer<T>[],
    release: () => void,
    gates: readonly KindAvailability[] = [],
  ) {
    this.kind = kind;
    this.informers = informers;
    this.#release = release;
    this.#gates = gates;
  }

  /** Whether the kind is served and has been listed; true for kinds that are not optional and can be read. */
  get isServed(): boolean {
    return this.informers.length > 0 && this.#gates.every(({ isOpen }) => isOpen);
  }

  /** Calls `listener` when an optional kind begins or ceases to be served, until the view is released. */
  onServedChange(listener: () => void): void {
    for (const gate of this.#gates) this.#unsubscribe.push(gate.subscribe(listener));
  }

  /** The namespaces it is about; undefined: all of them. */
  get namespaces(): readonly string[] | undefined {
    const names = this.informers.map(({ scope }) => scope.namespace);
    return names.includes(undefined) ? undefined : (names as string[]);
  }

  /** Whether it includes a namespace. */
  reaches(namespace: string): boolean {
    return this.namespaces?.includes(namespace) ?? true;
  }

  /** Whether it contains every object: of a namespace, or of all. */
  holdsAll(namespace: string | undefined): boolean {
    const { labelSelector, fieldSelector } = this.informers[0]?.scope ?? {};
    if (labelSelector || fieldSelector) return false;
    return namespace !== undefined || this.namespaces === undefined;
  }

  /** Resolves when it has been listed once. An optional kind that is not served is not waited for. */
  async whenSynced(): Promise<void> {
    if (this.#gates.length > 0) await Promise.all(this.#gates.map((gate) => gate.whenKnown()));
    else await Promise.all(this.informers.map((informer) => informer.whenSynced()));
  }

  get(key: ObjectKey): T | undefined {
    return this.#holder(key)?.get(key);
  }

  /** When the listing began, on the monotonic clock, after which all that is known of an object has been followed. */
  listedAt(key: ObjectKey): number {
    return this.#holder(key)?.listedAt ?? Number.NEGATIVE_INFINITY;
  }

  /** The fields that field managers of this process have applied to an object. */
  own(key: ObjectKey): OwnFields | undefined {
    return this.#holder(key)?.own(key);
  }

  *keys(): IterableIterator<ObjectKey> {
    for (const informer of this.informers) yield* informer.keys();
  }

  /** All objects, or those of a namespace. Parses each: use an index where there are many. */
  *list(namespace?: string): IterableIterator<T> {
    const prefix = namespace === undefined ? "" : `${namespace}/`;
    for (const informer of this.informers) {
      for (const key of informer.keys()) if (key.startsWith(prefix)) yield informer.get(key)!;
    }
  }

  /** Adds an index. Its name is local to this view. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.get(name) === valuesOf) return;
    if (this.#indexes.has(name)) throw new TypeError(`there is already an index ${JSON.stringify(name)}`);
    this.#indexes.set(name, valuesOf);
    for (const informer of this.informers) informer.addIndex(valuesOf);
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** The keys that an index has for a value. */
  *find(index: string, value: string): IterableIterator<ObjectKey> {
    const valuesOf = this.#indexes.get(index);
    if (!valuesOf) throw new Error(`there is no index ${JSON.stringify(index)}: declare it where the kind is declared`);
    for (const informer of this.informers) yield* informer.find(valuesOf, value);
  }

  /** Calls `listener` for all existing objects and for every change, until the view is released. */
  subscribe(listener: CacheChangeListener<T>): void {
    for (const informer of this.informers) this.#unsubscribe.push(informer.subscribe(listener));
  }

  release(): void {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
    for (const valuesOf of this.#indexes.values()) {
      for (const informer of this.informers) informer.removeIndex(valuesOf);
    }
    this.#indexes.clear();
    this.#release?.();
    this.#release = undefined;
  }

  #holder(key: ObjectKey): Informer<T> | undefined {
    if (this.informers.length === 1) return this.informers[0];
    const { namespace } = splitKey(key);
    return this.informers.find((informer) => informer.scope.namespace === namespace);
  }
}
