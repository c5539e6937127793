/** A list that operations of a patch insert into and remove from. Indexes are within its bounds. */
export interface EditableList {
  readonly length: number;
  at(index: number): unknown;
  set(index: number, value: unknown): void;
  insert(index: number, value: unknown): void;
  remove(index: number): void;
}

/** A list of ordinary length, changed in place. */
export class ShortList implements EditableList {
  readonly #items: unknown[];

  constructor(items: unknown[]) {
    this.#items = items;
  }

  get length(): number {
    return this.#items.length;
  }

  at(index: number): unknown {
    return this.#items[index];
  }

  set(index: number, value: unknown): void {
    this.#items[index] = value;
  }

  insert(index: number, value: unknown): void {
    if (index === this.#items.length) this.#items.push(value);
    else this.#items.splice(index, 0, value);
  }

  remove(index: number): void {
    this.#items.splice(index, 1);
  }
}

/** From how many items on a list is edited in chunks. */
export const LONG_LIST = 4096;
const CHUNK = 1024;

/**
 * A long list in chunks, so that an operation moves the items of one chunk and not all that follow: thousands of operations at
 * the front of a list of hundreds of thousands of items would keep the server busy for many seconds.
 */
export class LongList implements EditableList {
  #chunks: unknown[][] = [];
  #length: number;

  constructor(items: readonly unknown[]) {
    for (let i = 0; i < items.length; i += CHUNK) this.#chunks.push(items.slice(i, i + CHUNK));
    this.#length = items.length;
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): unknown {
    const { chunk, at } = this.#find(index);
    return chunk[at];
  }

  set(index: number, value: unknown): void {
    const { chunk, at } = this.#find(index);
    chunk[at] = value;
  }

  insert(index: number, value: unknown): void {
    const { chunk, at, number } = this.#find(index);
    chunk.splice(at, 0, value);
    this.#length++;
    if (chunk.length > 2 * CHUNK) this.#chunks.splice(number + 1, 0, chunk.splice(CHUNK));
  }

  remove(index: number): void {
    const { chunk, at, number } = this.#find(index);
    chunk.splice(at, 1);
    this.#length--;
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(number, 1);
  }

  items(): unknown[] {
    return this.#chunks.flat();
  }

  /** Where an item is, or where one would be added at the end. */
  #find(index: number): { chunk: unknown[]; at: number; number: number } {
    let at = index;
    let number = 0;
    const last = this.#chunks.length - 1;
    for (; number < last && at >= this.#chunks[number]!.length; number++) at -= this.#chunks[number]!.length;
    return { chunk: this.#chunks[number]!, at, number };
  }
}
