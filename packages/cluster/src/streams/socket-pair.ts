import type { MessageSocket } from "@konverge/core";

/** Messages on their way from one end to the other. */
class Messages implements AsyncIterable<string | Uint8Array> {
  readonly #queue: (string | Uint8Array)[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  push(message: string | Uint8Array): void {
    if (this.#ended) return;
    this.#queue.push(message);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array, void, void> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) yield next;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

/** Two ends of a message stream: what one sends, the other receives. */
export function socketPair(protocol: string): [MessageSocket, MessageSocket] {
  const [there, back] = [new Messages(), new Messages()];
  const close = () => {
    there.end();
    back.end();
  };
  return [
    { protocol, send: (message) => there.push(message), messages: back, close },
    { protocol, send: (message) => back.push(message), messages: there, close },
  ];
}
