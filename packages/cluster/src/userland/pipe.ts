import type { Holding } from "./limits/memory.ts";

/** As much as Linux keeps in a pipe, in bytes. */
const CAPACITY = 64 * 1024;
/** What a piece takes besides its bytes. */
const PIECE = 128;

/** Thrown in a process that writes to a pipe from which nothing reads any more: it ends, as by SIGPIPE. */
export class BrokenPipe extends Error {
  override readonly name = "BrokenPipe";

  constructor() {
    super("Broken pipe");
  }
}

/** Bytes from one process to another. A writer that awaits {@link write} never fills it. */
export class Pipe {
  readonly #memory: Holding;
  readonly #pieces: Uint8Array[] = [];
  readonly #readers: (() => void)[] = [];
  #room: { readonly promise: Promise<void>; resolve(): void } | undefined;
  #size = 0;
  #ended = false;
  #left = false;

  constructor(memory: Holding) {
    this.#memory = memory;
  }

  /** Adds bytes. What it returns, if anything, resolves when there is room for more. */
  write(data: string | Uint8Array): Promise<void> | undefined {
    if (this.#left) throw new BrokenPipe();
    if (data.length === 0) return undefined;
    const piece = typeof data === "string" ? Buffer.from(data) : data;
    this.#memory.hold(piece.length + PIECE);
    this.#size += piece.length + PIECE;
    this.#pieces.push(piece);
    this.#readers.shift()?.();
    if (this.#size < CAPACITY) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Nothing more will be written. */
  end(): void {
    this.#ended = true;
    for (const wake of this.#readers.splice(0)) wake();
  }

  /** Nothing more will be read. */
  leave(): void {
    this.#left = true;
    while (this.#pieces.length > 0) this.#take();
    this.#makeRoom();
  }

  async *read(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const piece = this.#take();
      if (piece) {
        if (this.#size < CAPACITY) this.#makeRoom();
        yield piece;
      } else if (this.#ended) return;
      else await new Promise<void>((resolve) => this.#readers.push(resolve));
    }
  }

  #take(): Uint8Array | undefined {
    const piece = this.#pieces.shift();
    if (!piece) return undefined;
    this.#size -= piece.length + PIECE;
    this.#memory.release(piece.length + PIECE);
    return piece;
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
