/** The longest line that is kept whole, in characters. */
const LONGEST = 64 * 1024;

/** What a process prints, line by line. */
export class OutputLines {
  readonly #print: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  write(bytes: Uint8Array): void {
    // Bytes of a process's memory may change while they are decoded as a stream.
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop()!.slice(0, LONGEST);
    for (const line of lines) this.#print(line);
  }

  end(): void {
    if (this.#rest !== "") this.#print(this.#rest);
    this.#rest = "";
  }
}
