/** The largest piece in which files are read and commands write, in bytes. */
export const PIECE = 64 * 1024;

/** What a process reads from. Processes that read one after the other continue where the last one stopped. */
export class Input implements AsyncIterable<Uint8Array> {
  readonly #iterator: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #rest: Uint8Array | undefined;

  constructor(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  /** The input of a source. */
  static of(source: AsyncIterable<Uint8Array>): Input {
    return source instanceof Input ? source : new Input(source);
  }

  /** The next bytes; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest) return rest;
    const { value, done } = await this.#iterator.next();
    return done ? undefined : value;
  }

  /** Puts back bytes for the next reader. */
  unread(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#rest = bytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (let bytes = await this.next(); bytes; bytes = await this.next()) yield bytes;
  }
}

/** Bytes in pieces that are small enough to be worked on in one go. */
export function* piecesOf(data: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < data.length; at += PIECE) yield data.subarray(at, at + PIECE);
}
