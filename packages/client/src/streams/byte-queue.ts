/** Backlog at which a producer should wait for its consumer. */
const HIGH_WATER = 1 << 20;

/**
 * A queue of bytes from a producer to a consumer. Without a consumer it keeps everything; with one, `room` makes the
 * producer wait while the consumer is behind.
 */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #backlog = 0;
  #consumed = false;
  #ended = false;
  #error: unknown;
  #wakeConsumer: (() => void) | undefined;
  #wakeProducer: (() => void) | undefined;

  push(chunk: Uint8Array): void {
    if (this.#ended || chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#backlog += chunk.length;
    this.#wakeConsumer?.();
  }

  /** No more will come; with an error, the iteration throws it after what is queued. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wakeConsumer?.();
    this.#wakeProducer?.();
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#consumed && !this.#ended && this.#backlog > HIGH_WATER) {
      await new Promise<void>((resolve) => {
        this.#wakeProducer = resolve;
      });
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    this.#consumed = true;
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk) {
          this.#backlog -= chunk.length;
          this.#wakeProducer?.();
          yield chunk;
        } else if (this.#ended) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wakeConsumer = resolve;
          });
        }
      }
    } finally {
      this.#consumed = false;
      this.#wakeProducer?.();
    }
  }
}

/** All the bytes, as text. */
export async function collectText(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
