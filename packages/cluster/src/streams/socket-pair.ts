import type { MessageSocket } from "@konverge/core";

/** Messages that wait are at most this many bytes, for a sender that waits until there is room. */
const CAPACITY = 256 * 1024;
/** A sender that ignores backpressure is disconnected above this many bytes: the size of the largest message. */
const LARGEST = 32 * 1024 * 1024;
/** What a message takes besides its content. */
const MESSAGE = 128;

/** Messages on their way from one end to the other. */
class Messages implements AsyncIterable<string | Uint8Array> {
  readonly #overflow: () => void;
  readonly #queue: (string | Uint8Array)[] = [];
  #head = 0;
  #size = 0;
  #ended = false;
  #wake: (() => void) | undefined;
  #room: { readonly promise: Promise<void>; resolve(): void } | undefined;

  constructor(overflow: () => void) {
    this.#overflow = overflow;
  }

  push(message: string | Uint8Array): Promise<void> | undefined {
    if (this.#ended) return undefined;
    if (this.#size > 0 && this.#size + message.length > LARGEST) {
      this.#overflow();
      return undefined;
    }
    this.#queue.push(message);
    this.#size += message.length + MESSAGE;
    this.#wake?.();
    if (this.#size < CAPACITY) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
    this.#makeRoom();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array, void, void> {
    for (;;) {
      const next = this.#take();
      if (next !== undefined) {
        this.#size -= next.length + MESSAGE;
        if (this.#size < CAPACITY) this.#makeRoom();
        yield next;
      } else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  /** What was taken is dropped by the half: to shift a long array costs as much as the array is long. */
  #take(): string | Uint8Array | undefined {
    if (this.#head === this.#queue.length) return undefined;
    const message = this.#queue[this.#head++]!;
    if (this.#head * 2 >= this.#queue.length) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    return message;
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

/** One end of a message stream within this process. */
export interface PairedSocket extends MessageSocket {
  /** Aborts when either end has closed the stream. */
  readonly closed: AbortSignal;
}

/** Why a stream ended. Made once: an error with its stack for each would take longer than most commands run. */
const CLOSED = new DOMException("This operation was aborted", "AbortError");

/** Two ends of a message stream: what one sends, the other receives. */
export function socketPair(protocol: string): [PairedSocket, PairedSocket] {
  const over = new AbortController();
  const closed = over.signal;
  const close = () => {
    if (closed.aborted) return;
    there.end();
    back.end();
    over.abort(CLOSED);
  };
  const [there, back] = [new Messages(close), new Messages(close)];
  return [
    { protocol, send: (message) => there.push(message), messages: back, close, closed },
    { protocol, send: (message) => back.push(message), messages: there, close, closed },
  ];
}
