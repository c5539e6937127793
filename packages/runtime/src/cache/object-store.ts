import { deepFreeze, type KubeObject, type ObjectKey, parseJson, stringifyJson } from "@konverge/core";
import { BlockLog, type Place } from "./block-log.ts";
import type { OwnFields } from "./field-set-pool.ts";

/** What is known of an object without reading it. */
export interface Entry {
  readonly resourceVersion: string;
  /** What our field managers have applied. */
  readonly own: OwnFields | undefined;
}

interface PackedEntry extends Entry {
  readonly place: Place;
}

/** How many parsed objects are kept at hand. */
const HOT = 256;

/**
 * Objects by key, kept as JSON in compressed blocks: parsed objects cost many times as much memory. Reading parses; what
 * was read lately is kept parsed. What is read is frozen, since it is shared.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #entries = new Map<ObjectKey, PackedEntry>();
  readonly #log = new BlockLog();
  /** Recently read objects, oldest first. */
  readonly #hot = new Map<ObjectKey, T>();

  get size(): number {
    return this.#entries.size;
  }

  /** Bytes kept for the objects themselves. */
  get bytes(): number {
    return this.#log.bytes;
  }

  keys(): IterableIterator<ObjectKey> {
    return this.#entries.keys();
  }

  entry(key: ObjectKey): PackedEntry | undefined {
    return this.#entries.get(key);
  }

  /** The object, if it need not be parsed first. */
  atHand(key: ObjectKey): T | undefined {
    return this.#hot.get(key);
  }

  get(key: ObjectKey): T | undefined {
    const hot = this.#hot.get(key);
    if (hot) return hot;
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const object = this.read(entry);
    this.#keepHot(key, object);
    return object;
  }

  /** The object as it was when the entry was taken, also after it was replaced. */
  read(entry: PackedEntry): T {
    return deepFreeze(parseJson(this.#log.read(entry.place)) as T);
  }

  /** `hot`: it will be read soon. The object is frozen then, and must not be used otherwise. */
  set(key: ObjectKey, object: T, options: { own: OwnFields | undefined; hot: boolean }): void {
    const known = this.#entries.get(key);
    if (known) this.#log.drop(known.place);
    const resourceVersion = object.metadata.resourceVersion ?? "";
    this.#entries.set(key, { resourceVersion, own: options.own, place: this.#log.append(key, stringifyJson(object)) });
    this.#hot.delete(key);
    if (options.hot) this.#keepHot(key, deepFreeze(object));
    if (known) this.#compact(known.place);
  }

  delete(key: ObjectKey): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#hot.delete(key);
    this.#log.drop(entry.place);
    this.#compact(entry.place);
  }

  #keepHot(key: ObjectKey, object: T): void {
    this.#hot.set(key, object);
    if (this.#hot.size > HOT) this.#hot.delete(this.#hot.keys().next().value!);
  }

  /** Moves what is left of a block that has become sparse. */
  #compact(dropped: Place): void {
    for (const key of this.#log.sparse(dropped)) {
      const entry = this.#entries.get(key);
      if (entry?.place.block !== dropped.block) continue;
      const place = this.#log.append(key, this.#log.read(entry.place));
      this.#log.drop(entry.place);
      this.#entries.set(key, { ...entry, place });
    }
  }
}
