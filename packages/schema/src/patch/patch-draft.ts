import { type JsonObject, quoted } from "@konverge/core";
import { own, put } from "../json-value.ts";

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
 */
export class Draft {
  root: unknown;
  readonly #mine = new Set<object>();

  constructor(document: unknown) {
    this.root = document;
  }

  /** The slot a path leads to, in a container ready to be changed; undefined when there is no such container. */
  place(path: string): Place | undefined {
    const steps = path.split("/");
    if (steps.length < 2) return undefined;
    this.root = this.#owned(this.root);
    let container = this.root as unknown[] | JsonObject;
    for (let i = 1; i < steps.length - 1; i++) {
      const place = placeIn(container, decodeStep(steps[i]!));
      const next = place.peek();
      if (typeof next !== "object" || next === null) return undefined;
      const copy = this.#owned(next);
      if (copy !== next) place.set(copy);
      container = copy as unknown[] | JsonObject;
    }
    return placeIn(container, decodeStep(steps.at(-1)!));
  }

  replaceRoot(value: unknown): void {
    if (typeof value !== "object" || value === null) {
      fail("replace operation value must be object or array: %!w(<nil>)");
    }
    this.root = value;
  }

  /** One value now stands in two places: neither may be changed in place any more. */
  forgetCopies(): void {
    this.#mine.clear();
  }

  #owned(container: unknown): unknown {
    if (typeof container !== "object" || container === null || this.#mine.has(container)) return container;
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

function placeIn(container: unknown[] | JsonObject, key: string): Place {
  return Array.isArray(container) ? new Index(container, key) : new Key(container, key);
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
  readonly #list: unknown[];
  readonly key: string;

  constructor(list: unknown[], key: string) {
    this.#list = list;
    this.key = key;
  }

  peek(): unknown {
    return INTEGER.test(this.key) ? this.#list.at(Number(this.key)) : undefined;
  }

  get(words: Words): unknown {
    return this.#list[this.#within(this.#list.length, words)];
  }

  set(value: unknown): void {
    this.#list[this.#within(this.#list.length, (why) => why)] = value;
  }

  add(value: unknown, words: Words): void {
    if (this.key === "-") {
      this.#list.push(value);
      return;
    }
    const index = this.#within(this.#list.length + 1, (why) =>
      words(why.startsWith("strconv") ? `value was not a proper array index: '${this.key}': ${why}` : why),
    );
    this.#list.splice(index, 0, value);
  }

  remove(words: Words): void {
    this.#list.splice(this.#within(this.#list.length, words), 1);
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
