import type { Clock } from "@konverge/core";

/** A line of output, and when it was written (milliseconds since 1970). */
export interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** A log is cut at its beginning beyond this many characters, as nodes rotate theirs. */
const LARGEST = 4 * 1024 * 1024;

/** So many lines, and characters, of a log stand for a container's last words. */
const LAST_LINES = 80;
const LAST_CHARACTERS = 2048;

/** What one run of a container has written. */
export class ContainerLog {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #lines: LogLine[] = [];
  #dropped = 0;
  #size = 0;
  #rest = "";
  #ended = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Its run is over: nothing more will come. */
  get ended(): boolean {
    return this.#ended;
  }

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** The number of the line after the last: it only grows. */
  get end(): number {
    return this.#dropped + this.#lines.length;
  }

  /** The lines from a number on. */
  from(position: number): readonly LogLine[] {
    return this.#lines.slice(Math.max(0, position - this.#dropped));
  }

  /** Its end, in place of last words. */
  lastWords(): string | undefined {
    const lines = this.#lines.slice(-LAST_LINES).map(({ text }) => text);
    return lines.length === 0 ? undefined : lines.join("\n").slice(-LAST_CHARACTERS);
  }

  /** Adds output; a line counts when it is complete. */
  write(text: string): void {
    const parts = (this.#rest + text).split("\n");
    this.#rest = parts.pop()!;
    for (const part of parts) this.#add(part);
    if (parts.length > 0) this.#tell();
  }

  close(): void {
    if (this.#rest !== "") this.#add(this.#rest);
    this.#rest = "";
    this.#ended = true;
    this.#tell();
  }

  /** Calls back whenever there is more, or no more to come. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #add(text: string): void {
    this.#lines.push({ at: this.#clock.now(), text });
    this.#size += text.length + 1;
    if (this.#size <= LARGEST) return;
    let cut = 0;
    while (this.#size > LARGEST / 2 && cut < this.#lines.length) this.#size -= this.#lines[cut++]!.text.length + 1;
    this.#lines = this.#lines.slice(cut);
    this.#dropped += cut;
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
