import { deepCopy, deepFreeze, type KubeObject, type ObjectKey } from "@konverge/core";
import type { OwnFields } from "./field-set-pool.ts";
import type { Entry } from "./object-store.ts";

interface ParsedEntry<T> extends Entry {
  readonly object: T;
}

/**
 * Objects by key, as they are: for those who read all of them often, or hold on to them anyway. What is read is frozen,
 * since it is shared.
 */
export class ParsedStore<T extends KubeObject> {
  readonly #entries = new Map<ObjectKey, ParsedEntry<T>>();

  get size(): number {
    return this.#entries.size;
  }

  /** The memory of parsed objects is not counted. */
  readonly bytes = 0;

  keys(): IterableIterator<ObjectKey> {
    return this.#entries.keys();
  }

  entry(key: ObjectKey): ParsedEntry<T> | undefined {
    return this.#entries.get(key);
  }

  atHand(key: ObjectKey): T | undefined {
    return this.#entries.get(key)?.object;
  }

  get(key: ObjectKey): T | undefined {
    return this.#entries.get(key)?.object;
  }

  /** The object as it was when the entry was taken. */
  read(entry: ParsedEntry<T>): T {
    return entry.object;
  }

  /** An object that is not `hot` may be in use by others, who may change it: it is copied. */
  set(key: ObjectKey, object: T, { own, hot }: { own: OwnFields | undefined; hot: boolean }): void {
    const kept = deepFreeze(hot ? object : (deepCopy(object) as T));
    this.#entries.set(key, { resourceVersion: object.metadata.resourceVersion ?? "", own, object: kept });
  }

  delete(key: ObjectKey): void {
    this.#entries.delete(key);
  }
}
