/** What one process writes and another reads. */
export class Pipe {
  readonly #chunks: Uint8Array[] = [];
  #ended = false;
  #wake: (() => void) | undefined;
  #left = false;

  /** False when nobody reads any more. */
  write(data: string | Uint8Array): boolean {
    if (this.#left) return false;
    this.#chunks.push(typeof data === "string" ? Buffer.from(data) : data);
    this.#wake?.();
    return true;
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Nobody will read any more. */
  leave(): void {
    this.#left = true;
    this.#chunks.length = 0;
  }

  async *read(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        yield chunk;
        continue;
      }
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
