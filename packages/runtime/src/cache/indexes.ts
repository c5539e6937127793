import type { KubeObject, ObjectKey } from "@konverge/core";

/** The values under which an index finds an object. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

interface Index<T extends KubeObject> {
  readonly valuesOf: IndexFunction<T>;
  readonly keys: Map<string, Set<ObjectKey>>;
  readonly values: Map<ObjectKey, readonly string[]>;
}

/** Named indexes over the objects of one informer: value → keys. */
export class Indexes<T extends KubeObject> {
  readonly #indexes = new Map<string, Index<T>>();

  /** True if the name is new; the caller then has to {@link set} what there is already. */
  add(name: string, valuesOf: IndexFunction<T>): boolean {
    if (this.#indexes.has(name)) return false;
    this.#indexes.set(name, { valuesOf, keys: new Map(), values: new Map() });
    return true;
  }

  has(name: string): boolean {
    return this.#indexes.has(name);
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

  find(name: string, value: string): Iterable<ObjectKey> {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`there is no index ${JSON.stringify(name)}: declare it where the kind is declared`);
    return index.keys.get(value) ?? [];
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
