import type { MessageSocket } from "@konverge/core";

/** One end of a message stream, for tests: what it got, and ways to end it. */
export interface PipeEnd extends MessageSocket {
  /** Breaks the stream for the other end. */
  break(error: Error): void;
  readonly closed: boolean;
}

/** Two ends of a message stream. */
export function messagePipe(protocol: string): [PipeEnd, PipeEnd] {
  const left = new Mailbox();
  const right = new Mailbox();
  return [end(protocol, left, right), end(protocol, right, left)];
}

function end(protocol: string, incoming: Mailbox, outgoing: Mailbox): PipeEnd {
  return {
    protocol,
    get closed() {
      return incoming.closed;
    },
    messages: incoming,
    send: (message) => {
      outgoing.put(typeof message === "string" ? message : message.slice());
      return undefined;
    },
    close: () => {
      incoming.finish();
      outgoing.finish();
    },
    break: (error) => outgoing.finish(error),
  };
}

class Mailbox implements AsyncIterable<string | Uint8Array> {
  readonly #messages: (string | Uint8Array)[] = [];
  #wake: (() => void) | undefined;
  closed = false;
  #error: Error | undefined;

  put(message: string | Uint8Array): void {
    if (this.closed) return;
    this.#messages.push(message);
    this.#wake?.();
  }

  finish(error?: Error): void {
    this.closed = true;
    this.#error ??= error;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array, void, void> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) yield message;
      else if (this.closed) {
        if (this.#error) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
