/** What a terminal showed at a moment. */
export interface Frame {
  /** Milliseconds since the beginning. */
  readonly at: number;
  readonly lines: readonly string[];
}

/**
 * As much of a terminal as the live view needs: text, new lines, a cursor that goes up, lines that are cleared. Each write is
 * a frame; those that follow within `pause` milliseconds replace one another.
 */
export class TerminalFrames {
  readonly isTTY = true;
  readonly columns: number;
  readonly #now: () => number;
  readonly #pause: number;
  readonly #lines: string[] = [""];
  readonly #frames: Frame[] = [];
  #row = 0;

  constructor(options: { columns: number; pause: number; now: () => number }) {
    this.columns = options.columns;
    this.#pause = options.pause;
    this.#now = options.now;
  }

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own language.
    for (const [token] of text.matchAll(/\x1b\[\d*[A-Za-z]|\n|[^\x1b\n]+/g)) this.#take(token);
    const frame = { at: this.#now(), lines: this.#lines.map((line) => line.trimEnd()) };
    const last = this.#frames.at(-1);
    if (last && JSON.stringify(last.lines) === JSON.stringify(frame.lines)) return;
    if (last && frame.at - last.at < this.#pause) this.#frames[this.#frames.length - 1] = { ...frame, at: last.at };
    else this.#frames.push(frame);
  }

  frames(): readonly Frame[] {
    return this.#frames;
  }

  #take(token: string): void {
    if (token === "\n") this.#row += 1;
    else if (token.startsWith("\x1b")) this.#obey(token);
    else this.#lines[this.#row] += token;
    while (this.#lines.length <= this.#row) this.#lines.push("");
  }

  #obey(token: string): void {
    if (token.endsWith("A")) this.#row = Math.max(0, this.#row - Number(token.slice(2, -1) || 1));
    else if (token === "\x1b[2K") this.#lines[this.#row] = "";
    else if (token === "\x1b[0J") this.#lines.splice(this.#row, this.#lines.length, "");
    // Recordings are drawn in one color.
    else if (token.endsWith("m")) return;
    else
      throw new Error(
        `a recording cannot show the terminal sequence ${JSON.stringify(token)}: teach it to TerminalFrames`,
      );
  }
}
