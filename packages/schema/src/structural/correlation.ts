import { deepEqual, isObject, type Schema } from "@konverge/core";
import { fieldSchema } from "./schema-fields.ts";

/**
 * A value of an update together with the value it had before. Where the two are the same, errors are forgiven: an object
 * that became invalid because its schema changed can still be updated elsewhere ("ratcheting").
 *
 * Fields correspond by name, items of a list by its map keys; items of other lists correspond to nothing.
 */
export class Correlation {
  readonly #schema: Schema;
  readonly #value: unknown;
  readonly #old: unknown;
  #children: Map<string | number, Correlation | undefined> | undefined;
  #oldItems: ReadonlyMap<string, unknown> | undefined;
  #isEqual: boolean | undefined;

  constructor(schema: Schema, value: unknown, old: unknown) {
    this.#schema = schema;
    this.#value = value;
    this.#old = old;
  }

  /** The value before the update. */
  get old(): unknown {
    return this.#old;
  }

  /** The field of that name, if it was there before and is now. */
  field(name: string): Correlation | undefined {
    return this.#child(name, () => {
      if (!isObject(this.#value) || !isObject(this.#old)) return undefined;
      if (!Object.hasOwn(this.#value, name) || !Object.hasOwn(this.#old, name)) return undefined;
      const schema = fieldSchema(this.#schema, name);
      return schema && new Correlation(schema, this.#value[name], this.#old[name]);
    });
  }

  /** The item at that index, if the list had one with the same keys before. */
  item(index: number): Correlation | undefined {
    return this.#child(index, () => {
      const { items } = this.#schema;
      if (!items || !Array.isArray(this.#value) || !Array.isArray(this.#old) || !this.#isMap()) return undefined;
      const value = this.#value[index];
      const key = this.#keyOf(value);
      const old = key === undefined ? undefined : this.#oldByKey(this.#old).get(key);
      return old === undefined ? undefined : new Correlation(items, value, old);
    });
  }

  /** Whether the value is what it was; the items of a map list may have changed places. */
  isEqual(): boolean {
    this.#isEqual ??= this.#compare();
    return this.#isEqual;
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (Array.isArray(value) && Array.isArray(old)) {
      if (!this.#isMap()) return deepEqual(value, old);
      return value.length === old.length && value.every((_, index) => this.item(index)?.isEqual() ?? false);
    }
    if (isObject(value) && isObject(old)) {
      const names = Object.keys(value);
      if (names.length !== Object.keys(old).length) return false;
      // Fields without a schema correspond to nothing, so objects that have one never count as unchanged.
      return names.every((name) => this.field(name)?.isEqual() ?? false);
    }
    return deepEqual(value, old);
  }

  /** The first item that the list had before with each key. */
  #oldByKey(items: readonly unknown[]): ReadonlyMap<string, unknown> {
    if (this.#oldItems) return this.#oldItems;
    const byKey = new Map<string, unknown>();
    for (const item of items) {
      const key = this.#keyOf(item);
      if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
    }
    this.#oldItems = byKey;
    return byKey;
  }

  #isMap(): boolean {
    return this.#schema["x-kubernetes-list-type"] === "map";
  }

  #keyOf(item: unknown): string | undefined {
    if (!isObject(item)) return undefined;
    const keys: unknown[] = [];
    for (const name of this.#schema["x-kubernetes-list-map-keys"] ?? []) {
      const key = Object.hasOwn(item, name) ? item[name] : undefined;
      if (key === undefined || key === null || typeof key === "object") return undefined;
      keys.push(typeof key === "bigint" ? Number(key) : key);
    }
    return JSON.stringify(keys);
  }

  #child(key: string | number, make: () => Correlation | undefined): Correlation | undefined {
    this.#children ??= new Map();
    if (!this.#children.has(key)) this.#children.set(key, make());
    return this.#children.get(key);
  }
}
