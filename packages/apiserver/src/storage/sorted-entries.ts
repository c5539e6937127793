import { append } from "@konverge/core";
import type { Entry } from "./entry.ts";

/** Entries per chunk: what a write copies after a fork. Larger chunks make the spine shorter and that copy dearer. */
const MOST = 128;
const FEW = 32;

/** A chunk may be changed in place by its owner alone; others copy it first. */
interface Chunk {
  readonly owner: object;
  readonly entries: Entry[];
}

interface Spine {
  readonly owner: object;
  /** In key order; none is empty. */
  readonly chunks: Chunk[];
}

/**
 * Entries in key order that fork in constant time: both sides share all chunks, and each copies the few it writes to.
 *
 * Invariant: what a fork or a running {@link scan} sees never changes, because both give this side a new owner, and with
 * it no right to change any chunk that exists.
 */
export class SortedEntries {
  #owner: object = {};
  #spine: Spine = { owner: this.#owner, chunks: [] };
  #size = 0;

  get size(): number {
    return this.#size;
  }

  fork(): SortedEntries {
    const fork = new SortedEntries();
    fork.#spine = this.#spine;
    fork.#size = this.#size;
    this.#owner = {};
    return fork;
  }

  get(key: string): Entry | undefined {
    const { chunks } = this.#spine;
    const chunk = chunks[chunkFor(chunks, key)];
    if (!chunk) return undefined;
    const entry = chunk.entries[position(chunk.entries, key)];
    return entry?.key === key ? entry : undefined;
  }

  /** The entries whose keys start with `prefix`, from the first one after `after` on, as they are now. */
  scan(prefix: string, after?: string): Generator<Entry> {
    this.#owner = {};
    return scanChunks(this.#spine.chunks, prefix, after === undefined || after < prefix ? prefix : `${after}\0`);
  }

  /** How many keys are before `key`. */
  rank(key: string): number {
    const { chunks } = this.#spine;
    const at = chunkFor(chunks, key);
    let rank = 0;
    for (let i = 0; i < at; i++) rank += chunks[i]!.entries.length;
    return at < chunks.length ? rank + position(chunks[at]!.entries, key) : rank;
  }

  set(entry: Entry): void {
    const chunks = this.#ownChunks();
    if (chunks.length === 0) {
      chunks.push({ owner: this.#owner, entries: [entry] });
      this.#size = 1;
      return;
    }
    const at = chunkFor(chunks, entry.key);
    const { entries } = this.#ownChunk(chunks, at);
    const i = position(entries, entry.key);
    if (entries[i]?.key === entry.key) {
      entries[i] = entry;
      return;
    }
    this.#size++;
    entries.splice(i, 0, entry);
    if (entries.length <= MOST) return;
    // Keys that come in order fill a chunk before the next one begins.
    const cut = at === chunks.length - 1 && i === entries.length - 1 ? MOST : MOST >> 1;
    chunks.splice(at + 1, 0, { owner: this.#owner, entries: entries.splice(cut) });
  }

  delete(key: string): void {
    const at = chunkFor(this.#spine.chunks, key);
    const found = this.#spine.chunks[at]?.entries;
    if (!found || found[position(found, key)]?.key !== key) return;
    const chunks = this.#ownChunks();
    const { entries } = this.#ownChunk(chunks, at);
    entries.splice(position(entries, key), 1);
    this.#size--;
    const next = chunks[at + 1]?.entries;
    if (entries.length === 0) chunks.splice(at, 1);
    else if (next && entries.length + next.length <= FEW) {
      append(entries, next);
      chunks.splice(at + 1, 1);
    }
  }

  #ownChunks(): Chunk[] {
    if (this.#spine.owner !== this.#owner) this.#spine = { owner: this.#owner, chunks: this.#spine.chunks.slice() };
    return this.#spine.chunks;
  }

  #ownChunk(chunks: Chunk[], at: number): Chunk {
    const chunk = chunks[at]!;
    if (chunk.owner === this.#owner) return chunk;
    const copy = { owner: this.#owner, entries: chunk.entries.slice() };
    chunks[at] = copy;
    return copy;
  }
}

function* scanChunks(chunks: readonly Chunk[], prefix: string, start: string): Generator<Entry> {
  let at = chunkFor(chunks, start);
  let i = at < chunks.length ? position(chunks[at]!.entries, start) : 0;
  for (; at < chunks.length; at++, i = 0) {
    const { entries } = chunks[at]!;
    for (; i < entries.length; i++) {
      const entry = entries[i]!;
      if (!entry.key.startsWith(prefix)) return;
      yield entry;
    }
  }
}

/** The index of the chunk that holds `key`, if any does: the last one that does not begin after it. */
function chunkFor(chunks: readonly Chunk[], key: string): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunks[middle]!.entries[0]!.key <= key) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** The index of the first entry whose key is not before `key`. */
function position(entries: readonly Entry[], key: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
