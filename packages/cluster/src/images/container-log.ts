import type { Clock } from "@konverge/core";

/** A line of output, and when it was written (milliseconds since 1970). */
export interface LogLine {
  readonly at: number;
  readonly text: string;
  /** The line continues in the next entry. */
  readonly partial?: true;
}

/** A log is rotated at this many bytes, as by a kubelet. Older files cannot be read by clients, so they are not kept. */
const LARGEST = 10 * 1024 * 1024;
/** The limit for all logs of a cluster together, in bytes. Above it, growing logs are rotated earlier. */
const LARGEST_TOTAL = 128 * 1024 * 1024;
/** Time, stream and mark that container runtimes write before each line, in bytes. */
const LINE_HEAD = 41;
/** The longest line that container runtimes write in one piece. */
const LONGEST_LINE = 16 * 1024;

/** What the logs of a cluster take together. */
export class LogSpace {
  #used = 0;

  get isFull(): boolean {
    return this.#used > LARGEST_TOTAL;
  }

  change(bytes: number): void {
    this.#used += bytes;
  }
}

/** With `FallbackToLogsOnError`, at most this many lines and characters of the log become the termination message. */
const LAST_LINES = 80;
const LAST_CHARACTERS = 2048;

/** What one run of a container has written. */
export class ContainerLog {
  readonly #clock: Clock;
  readonly #space: LogSpace;
  readonly #listeners = new Set<() => void>();
  #lines: LogLine[] = [];
  #dropped = 0;
  #size = 0;
  #rest = "";
  #ended = false;
  #released = false;

  constructor(clock: Clock, space: LogSpace) {
    this.#clock = clock;
    this.#space = space;
  }

  /** Its run has ended: the log is complete. */
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

  /** The number of the first line that is still kept. */
  get start(): number {
    return this.#dropped;
  }

  /** The lines from a number on, or some of them. */
  from(position: number, most = Number.POSITIVE_INFINITY): readonly LogLine[] {
    const first = Math.max(0, position - this.#dropped);
    return this.#lines.slice(first, first + most);
  }

  /** The end of the log, as a termination message. */
  terminationMessage(): string | undefined {
    const lines = this.#lines.slice(-LAST_LINES);
    const last = lines.map(({ text, partial }, index) => (partial || index === lines.length - 1 ? text : `${text}\n`));
    return lines.length === 0 ? undefined : last.join("").slice(-LAST_CHARACTERS);
  }

  /** Adds output; a line counts when it is complete. */
  write(text: string): void {
    const parts = (this.#rest + text).split("\n");
    this.#rest = parts.pop()!;
    for (const part of parts) this.#addLine(part);
    const isLong = this.#rest.length > LONGEST_LINE;
    if (isLong) this.#rest = this.#addBeginning(this.#rest);
    if (parts.length > 0 || isLong) this.#notify();
  }

  close(): void {
    if (this.#rest !== "") this.#addLine(this.#rest);
    this.#rest = "";
    this.#ended = true;
    this.#notify();
  }

  /** The pod is deleted: only clients that are reading the log still get the rest of it. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#space.change(-this.#size);
  }

  /** Calls back whenever there is more, or no more to come. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #addLine(text: string): void {
    this.#add({ at: this.#clock.now(), text: this.#addBeginning(text) });
  }

  /** Adds a long line but for its end, which is returned. */
  #addBeginning(line: string): string {
    let at = 0;
    for (; line.length - at > LONGEST_LINE; at += LONGEST_LINE)
      this.#add({ at: this.#clock.now(), text: line.slice(at, at + LONGEST_LINE), partial: true });
    return line.slice(at);
  }

  #add(line: LogLine): void {
    const size = line.text.length + LINE_HEAD;
    if (this.#size + size > LARGEST || this.#space.isFull) this.#rotate();
    this.#lines.push(line);
    this.#grow(size);
  }

  #rotate(): void {
    this.#dropped += this.#lines.length;
    this.#lines = [];
    this.#grow(-this.#size);
  }

  #grow(bytes: number): void {
    this.#size += bytes;
    if (!this.#released) this.#space.change(bytes);
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
