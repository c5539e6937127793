import type { Container } from "@konverge/kinds";

/**
 * The standard input of one run of a container: what clients that attach send. Without `stdin` it is empty. With it, the
 * container's process waits for clients; with `stdinOnce`, the end of the first client's input is the end of it all.
 */
export class ContainerInput implements AsyncIterable<Uint8Array> {
  readonly #isOnce: boolean;
  readonly #sent: { readonly piece: Uint8Array; taken(): void }[] = [];
  #isEnded: boolean;
  #wake = () => {};

  constructor({ stdin = false, stdinOnce = false }: Pick<Container, "stdin" | "stdinOnce">) {
    this.#isOnce = stdinOnce;
    this.#isEnded = !stdin;
  }

  /** Passes on what a client sends, no faster than it is read. */
  async attach(source: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const piece of source) {
        if (this.#isEnded) return;
        await new Promise<void>((taken) => {
          this.#sent.push({ piece, taken });
          this.#wake();
        });
      }
    } finally {
      if (this.#isOnce) this.end();
    }
  }

  /** The input has ended: with the run, or with its only client. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const next = this.#sent.shift();
      if (next) {
        next.taken();
        yield next.piece;
      } else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
