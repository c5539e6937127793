import { FileError } from "../file-error.ts";
import { filePieces } from "../file-pieces.ts";
import type { Process } from "../process.ts";
import { complain, pathOf } from "./failing.ts";

const NEWLINE = 0x0a;
/** Bytes that are one step of work: as they are, and as text. */
const BYTES_PER_STEP = 4096;
const TEXT_PER_STEP = 512;
/** What a piece of input takes besides its bytes. */
const PIECE_SIZE = 64;

/** What a command reads: its files one after the other, or its input where it names none. */
export class InputFiles {
  readonly #process: Process;
  readonly #names: readonly string[];
  /** 1 when one of the files could not be read. */
  status = 0;

  constructor(process: Process, names: readonly string[]) {
    this.#process = process;
    this.#names = names.length === 0 ? ["-"] : names;
  }

  async *pieces(): AsyncGenerator<Uint8Array, void, void> {
    for (const name of this.#names) {
      for await (const piece of this.#source(name)) {
        await this.#process.spend(1 + piece.length / BYTES_PER_STEP);
        yield piece;
      }
    }
  }

  /** Lines without what ends them; the last need not end at all. */
  async *lines(): AsyncGenerator<string, void, void> {
    const { memory } = this.#process;
    let begun: Uint8Array[] = [];
    let length = 0;
    const line = (last: Buffer) => {
      if (begun.length === 0) return last.toString("utf8");
      const text = Buffer.concat([...begun, last]).toString("utf8");
      memory.release(length + begun.length * PIECE_SIZE);
      [begun, length] = [[], 0];
      return text;
    };
    for await (const piece of this.pieces()) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        const pause = this.#process.spend(1 + (length + end - start) / TEXT_PER_STEP);
        if (pause) await pause;
        yield line(bytes.subarray(start, end));
        start = end + 1;
      }
      if (start === bytes.length) continue;
      length += bytes.length - start;
      memory.checkText(length);
      memory.hold(bytes.length - start + PIECE_SIZE);
      begun.push(bytes.subarray(start));
    }
    if (begun.length > 0) yield line(Buffer.alloc(0));
  }

  #source(name: string): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
    const path = pathOf(this.#process, name);
    if (name === "-" || path === "/dev/stdin") return this.#process.stdin;
    try {
      return filePieces(this.#process, path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      complain(this.#process, name, error);
      this.status = 1;
      return [];
    }
  }
}
