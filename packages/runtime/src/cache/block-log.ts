// As a namespace: a Node that is too old has no zstd, and must report that it is too old.
import * as zlib from "node:zlib";
import type { ObjectKey } from "@konverge/core";

/** Where a record is. It stays readable for as long as it is referenced, also after the record was dropped. */
export interface Place {
  readonly block: Block;
  readonly offset: number;
  readonly length: number;
}

interface Block {
  /** Undefined when only the packed form is kept. */
  raw: Buffer | undefined;
  packed: Buffer | undefined;
  used: number;
  /** The keys of its records, also of those that were dropped. */
  readonly keys: ObjectKey[];
  /** Bytes of records that have not been dropped. */
  live: number;
}

/** Large enough to compress well, small enough that reading one cold record is cheap: see docs/decisions/015-compact-cache.md. */
const BLOCK_SIZE = 32 * 1024;
/** Blocks that stay uncompressed: small caches are never compressed at all. */
const RAW_BLOCKS = 128;
const SPARE_BLOCKS = 4;
const FAST = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

/**
 * Text records in blocks of bytes outside the JavaScript heap. Records are appended to the open block; blocks that have
 * not been read for a while are compressed; blocks of which most records were dropped are to be rewritten by the owner
 * of the records ({@link sparse}).
 */
export class BlockLog {
  /** Blocks with a raw form, least recently used first. The open block is not among them. */
  readonly #raw = new Set<Block>();
  /** The bytes of blocks that were compressed, for blocks to come: giving them back would fragment the memory. */
  readonly #spare: Buffer[] = [];
  #open: Block = this.#newBlock(BLOCK_SIZE);
  #bytes = 0;

  /** Bytes kept, compressed or not. */
  get bytes(): number {
    return this.#bytes + this.#open.used;
  }

  append(key: ObjectKey, text: string): Place {
    const length = Buffer.byteLength(text);
    if (this.#open.used + length > this.#open.raw!.length) this.#close(length);
    const block = this.#open;
    const offset = block.used;
    block.raw!.write(text, offset, length, "utf8");
    block.used += length;
    block.live += length;
    block.keys.push(key);
    return { block, offset, length };
  }

  read({ block, offset, length }: Place): string {
    return this.#rawOf(block).toString("utf8", offset, offset + length);
  }

  /** The record is no longer needed. */
  drop({ block, length }: Place): void {
    block.live -= length;
    if (block.live === 0 && block !== this.#open) this.#discard(block);
  }

  /** If the record's block wastes so much that what is left should be appended again: the keys of all its records. */
  sparse({ block }: Place): readonly ObjectKey[] {
    return block !== this.#open && block.live > 0 && block.live < block.used / 2 ? block.keys : [];
  }

  #close(next: number): void {
    const closed = this.#open;
    this.#open = this.#newBlock(Math.max(BLOCK_SIZE, next));
    if (closed.live === 0) return;
    this.#bytes += closed.used;
    this.#raw.add(closed);
    this.#pack();
  }

  #rawOf(block: Block): Buffer {
    if (block === this.#open) return block.raw!;
    if (block.raw) {
      if (this.#raw.delete(block)) this.#raw.add(block);
      return block.raw;
    }
    const raw = zlib.zstdDecompressSync(block.packed!);
    // A discarded block is read only through a place that is still referenced: do not cache it.
    if (block.live > 0) {
      block.raw = raw;
      this.#bytes += block.used;
      this.#raw.add(block);
      this.#pack();
    }
    return raw;
  }

  /** Compresses the least recently used blocks beyond the number that may stay raw. */
  #pack(): void {
    while (this.#raw.size > RAW_BLOCKS) {
      const block = this.#raw.values().next().value!;
      this.#raw.delete(block);
      if (!block.packed) {
        block.packed = exactCopy(zlib.zstdCompressSync(block.raw!.subarray(0, block.used), FAST));
        this.#bytes += block.packed.length;
      }
      this.#bytes -= block.used;
      this.#recycle(block);
    }
  }

  #discard(block: Block): void {
    // Its bytes are not reused: a place in it may still be referenced.
    if (this.#raw.delete(block)) this.#bytes -= block.used;
    if (block.packed) this.#bytes -= block.packed.length;
  }

  #recycle(block: Block): void {
    if (block.raw!.length === BLOCK_SIZE && this.#spare.length < SPARE_BLOCKS) this.#spare.push(block.raw!);
    block.raw = undefined;
  }

  #newBlock(size: number): Block {
    const raw = (size === BLOCK_SIZE ? this.#spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(size);
    return { raw, packed: undefined, used: 0, keys: [], live: 0 };
  }
}

/** What zlib returns may be part of a larger buffer, all of which would be kept. */
function exactCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
