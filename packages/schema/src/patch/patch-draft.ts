import { isObject, type JsonObject, MAX_JSON_DEPTH, quoted } from "@konverge/core";
import { own, put } from "../json-value.ts";
import { type EditableList, LONG_LIST, LongList, ShortList } from "./editable-list.ts";

/** Why an operation cannot be carried out. */
export class PatchFailure extends Error {}

/** Gives an operation up. */
export function fail(why: string): never {
  throw new PatchFailure(why);
}

/** Puts the reason why a place cannot be used into the words of the operation that wanted it. */
type Words = (why: string) => string;

/**
 * A document being patched. Containers are copied when an operation first reaches through them, once; those made in
 * this draft are known by `#mine` and changed in place afterwards.
 *
 * While a long list is being changed, an empty array stands for it in the document: {@link settle} before anything is read.
 */
export class Draft {
  #root: unknown;
  readonly #mine = new Set<object>();
  readonly #long = new Map<unknown[], LongList>();

  constructor(document: unknown) {
    this.#root = document;
  }

  /** The document as it is now. */
  get root(): unknown {
    for (const list of this.#long.keys()) this.#restore(list);
    return this.#root;
  }

  /** Puts the items of long lists back into a part of the document, and returns that part. */
  settle(part: unknown): unknown {
    if (this.#long.size > 0) this.#settle(part, MAX_JSON_DEPTH);
    return part;
  }

  #settle(part: unknown, levels: number): void {
    if (typeof part !== "object" || part === null || levels === 0) return;
    if (Array.isArray(part)) {
      this.#restore(part);
      for (const item of part) this.#settle(item, levels - 1);
    } else if (isObject(part)) {
      for (const key in part) this.#settle(part[key], levels - 1);
    }
  }

  #restore(list: unknown[]): void {
    const long = this.#long.get(list);
    if (!long) return;
    this.#long.delete(list);
    for (const item of long.items()) list.push(item);
  }

  /** The slot a path leads to, in a container ready to be changed; undefined when there is no such container. */
  place(path: string): Place | undefined {
    const steps = path.split("/");
    if (steps.length < 2) return undefined;
    this.#root = this.#owned(this.#root);
    let container = this.#root as unknown[] | JsonObject;
    for (let i = 1; i < steps.length - 1; i++) {
      const place = this.#placeIn(container, decodeStep(steps[i]!));
      const next = place.peek();
      if (typeof next !== "object" || next === null) return undefined;
      const copy = this.#owned(next);
      if (copy !== next) place.set(copy);
      container = copy as unknown[] | JsonObject;
    }
    return this.#placeIn(container, decodeStep(steps.at(-1)!));
  }

  /** A part of the document that will stand in two places: whichever is changed is copied before. */
  share(part: unknown): unknown {
    if (typeof part !== "object" || part === null || !this.#mine.delete(part)) return part;
    // No operation has reached what is in a container of another owner.
    for (const item of Object.values(part)) this.share(item);
    return part;
  }

  replaceRoot(value: unknown): void {
    if (typeof value !== "object" || value === null) {
      fail("replace operation value must be object or array: %!w(<nil>)");
    }
    this.#root = value;
  }

  #placeIn(container: unknown[] | JsonObject, key: string): Place {
    if (!Array.isArray(container)) return new Key(container, key);
    return new Index(this.#long.get(container) ?? new ShortList(container), key);
  }

  #owned(container: unknown): unknown {
    if (typeof container !== "object" || container === null) return container;
    if (Array.isArray(container) && container.length > LONG_LIST) {
      const placeholder: unknown[] = [];
      this.#mine.add(placeholder);
      this.#long.set(placeholder, new LongList(container));
      return placeholder;
    }
    if (this.#mine.has(container)) return container;
    const copy = Array.isArray(container) ? [...container] : { ...container };
    this.#mine.add(copy);
    return copy;
  }
}

function decodeStep(step: string): string {
  return step.includes("~") ? step.replace(/~[01]/g, (escaped) => (escaped === "~1" ? "/" : "~")) : step;
}

/** A slot of a container: a key of an object or an index of a list. */
export interface Place {
  readonly key: string;
  /** What is there, or undefined. */
  peek(): unknown;
  get(words: Words): unknown;
  set(value: unknown): void;
  add(value: unknown, words: Words): void;
  remove(words: Words): void;
}

class Key implements Place {
  readonly #object: JsonObject;
  readonly key: string;

  constructor(object: JsonObject, key: string) {
    this.#object = object;
    this.key = key;
  }

  peek(): unknown {
    return own(this.#object, this.key);
  }

  get(): unknown {
    return own(this.#object, this.key);
  }

  set(value: unknown): void {
    put(this.#object, this.key, value);
  }

  add(value: unknown): void {
    put(this.#object, this.key, value);
  }

  remove(words: Words): void {
    if (!Object.hasOwn(this.#object, this.key)) {
      fail(words(`Unable to remove nonexistent key: ${this.key}: missing value`));
    }
    delete this.#object[this.key];
  }
}

const INTEGER = /^[+-]?[0-9]+$/;

class Index implements Place {
  readonly #list: EditableList;
  readonly key: string;

  constructor(list: EditableList, key: string) {
    this.#list = list;
    this.key = key;
  }

  peek(): unknown {
    if (!INTEGER.test(this.key)) return undefined;
    const index = Number(this.key);
    return this.#list.at(index < 0 ? index + this.#list.length : index);
  }

  get(words: Words): unknown {
    return this.#list.at(this.#within(this.#list.length, words));
  }

  set(value: unknown): void {
    this.#list.set(
      this.#within(this.#list.length, (why) => why),
      value,
    );
  }

  add(value: unknown, words: Words): void {
    if (this.key === "-") {
      this.#list.insert(this.#list.length, value);
      return;
    }
    const index = this.#within(this.#list.length + 1, (why) =>
      words(why.startsWith("strconv") ? `value was not a proper array index: '${this.key}': ${why}` : why),
    );
    this.#list.insert(index, value);
  }

  remove(words: Words): void {
    this.#list.remove(this.#within(this.#list.length, words));
  }

  #within(length: number, words: Words): number {
    if (!INTEGER.test(this.key)) {
      fail(words(`strconv.Atoi: parsing ${quoted(this.key)}: invalid syntax`));
    }
    const index = Number(this.key);
    if (Math.abs(index) >= 2 ** 63) fail(words(`strconv.Atoi: parsing ${quoted(this.key)}: value out of range`));
    if (index >= length || index < -length)
      fail(words(`Unable to access invalid index: ${index}: invalid index referenced`));
    return index < 0 ? index + length : index;
  }
}
