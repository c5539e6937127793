import type { MessageSocket } from "@konverge/core";

/** From so many bytes on whoever sends is asked to wait. */
const MANY = 1024 * 1024;
/** A program that writes without waiting, to a client that does not read, is cut off here. */
const TOO_MANY = 256 * 1024 * 1024;

/** Messages on their way from one end to the other. */
class Messages implements AsyncIterable<string | Uint8Array> {
  #queue: (string | Uint8Array)[] = [];
  #head = 0;
  #bytes = 0;
  #ended = false;
  #wake: (() => void) | undefined;
  #taken: PromiseWithResolvers<void> | undefined;
  readonly #overflow: () => void;

  constructor(overflow: () => void) {
    this.#overflow = overflow;
  }

  push(message: string | Uint8Array): void {
    if (this.#ended) return;
    this.#queue.push(message);
    this.#bytes += message.length;
    if (this.#bytes > TOO_MANY) this.#overflow();
    this.#wake?.();
  }

  /** Resolves when there is room again; undefined when there is. */
  full(): Promise<void> | undefined {
    if (this.#bytes < MANY || this.#ended) return undefined;
    this.#taken ??= Promise.withResolvers<void>();
    return this.#taken.promise;
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
    this.#taken?.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array, void, void> {
    for (;;) {
      const next = this.#next();
      if (next !== undefined) yield next;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #next(): string | Uint8Array | undefined {
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
      return undefined;
    }
    const message = this.#queue[this.#head]!;
    this.#queue[this.#head++] = "";
    this.#bytes -= message.length;
    if (this.#taken && this.#bytes < MANY) {
      this.#taken.resolve();
      this.#taken = undefined;
    }
    return message;
  }
}

/** Two ends of a message stream: what one sends, the other receives. */
export function socketPair(protocol: string): [MessageSocket, MessageSocket] {
  const close = () => {
    there.end();
    back.end();
  };
  const [there, back] = [new Messages(close), new Messages(close)];
  const end = (out: Messages, messages: Messages): MessageSocket => ({
    protocol,
    send: (message) => out.push(message),
    full: () => out.full(),
    messages,
    close,
  });
  return [end(there, back), end(back, there)];
}
