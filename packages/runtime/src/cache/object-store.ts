import { type KubeObject, type ObjectKey, parseJson, stringifyJson } from "@konverge/core";
import { deepFreeze } from "./deep-freeze.ts";
import type { OwnFields } from "./own-fields.ts";

/** What is known of an object without parsing it. */
export interface Entry {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The object as JSON. */
  readonly text: string;
  /** What our field managers have applied, by manager. */
  readonly own: ReadonlyMap<string, OwnFields> | undefined;
}

/** How many parsed objects are kept at hand. */
const HOT = 512;

/**
 * Objects by key, kept as JSON text: a parsed object costs several times as much memory as its text. Reading parses;
 * what was read lately is kept parsed. What is read is frozen, since it is shared.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #entries = new Map<ObjectKey, Entry>();
  readonly #hot = new Map<ObjectKey, T>();
  #bytes = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** Characters of JSON kept. */
  get bytes(): number {
    return this.#bytes;
  }

  keys(): IterableIterator<ObjectKey> {
    return this.#entries.keys();
  }

  entry(key: ObjectKey): Entry | undefined {
    return this.#entries.get(key);
  }

  get(key: ObjectKey): T | undefined {
    const hot = this.#hot.get(key);
    if (hot) return hot;
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const object = deepFreeze(parseJson(entry.text) as T);
    this.#hot.set(key, object);
    if (this.#hot.size > HOT) this.#hot.delete(this.#hot.keys().next().value!);
    return object;
  }

  set(key: ObjectKey, object: T, own: ReadonlyMap<string, OwnFields> | undefined): void {
    this.delete(key);
    const { uid = "", resourceVersion = "" } = object.metadata;
    const text = stringifyJson(object);
    this.#entries.set(key, { uid, resourceVersion, text, own });
    this.#bytes += text.length;
  }

  delete(key: ObjectKey): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#bytes -= entry.text.length;
    this.#entries.delete(key);
    this.#hot.delete(key);
  }
}
