import type { KubeObject, ObjectKey } from "@konverge/core";

/** The values under which an index finds an object. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

interface Index<T extends KubeObject> {
  readonly valuesOf: IndexFunction<T>;
  readonly keys: Map<string, Set<ObjectKey>>;
  readonly values: Map<ObjectKey, readonly string[]>;
  users: number;
}

/**
 * Indexes over the objects of one informer: value → keys. They are known by their functions, which all who share the
 * informer can choose without knowing of each other; callers with the same function share the index.
 */
export class Indexes<T extends KubeObject> {
  readonly #indexes = new Map<IndexFunction<T>, Index<T>>();

  /** True if it is new; the caller then has to {@link set} what there is already. Each needs its {@link remove}. */
  add(valuesOf: IndexFunction<T>): boolean {
    const known = this.#indexes.get(valuesOf);
    if (known) known.users++;
    else this.#indexes.set(valuesOf, { valuesOf, keys: new Map(), values: new Map(), users: 1 });
    return !known;
  }

  remove(valuesOf: IndexFunction<T>): void {
    const known = this.#indexes.get(valuesOf);
    if (known && --known.users === 0) this.#indexes.delete(valuesOf);
  }

  set(key: ObjectKey, object: T): void {
    for (const index of this.#indexes.values()) {
      const values = index.valuesOf(object);
      const known = index.values.get(key);
      if (known && known.length === values.length && known.every((value, i) => value === values[i])) continue;
      if (known) remove(index, key, known);
      if (values.length === 0) continue;
      index.values.set(key, values);
      for (const value of values) {
        const keys = index.keys.get(value);
        if (keys) keys.add(key);
        else index.keys.set(value, new Set([key]));
      }
    }
  }

  delete(key: ObjectKey): void {
    for (const index of this.#indexes.values()) {
      const known = index.values.get(key);
      if (known) remove(index, key, known);
    }
  }

  find(valuesOf: IndexFunction<T>, value: string): Iterable<ObjectKey> {
    return this.#indexes.get(valuesOf)?.keys.get(value) ?? [];
  }
}

function remove(index: Pick<Index<never>, "keys" | "values">, key: ObjectKey, values: readonly string[]): void {
  index.values.delete(key);
  for (const value of values) {
    const keys = index.keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) index.keys.delete(value);
  }
}
