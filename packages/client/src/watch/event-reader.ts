import {
  ApiError,
  type ApiResponse,
  type Clock,
  parseJson,
  readLines,
  type StatusObject,
  type Timer,
} from "@konverge/core";
import { TransportError } from "../errors.ts";

/** One line of a watch response. */
export interface RawEvent {
  type: string;
  object: unknown;
}

export interface EventReaderOptions {
  clock: Clock;
  signal: AbortSignal | undefined;
  /** What is watched, for messages. */
  subject: string;
  /** Called for every line. */
  onLine: () => void;
  /** Gives the request up, and says why if it was the server's fault. */
  cancel: (reason?: TransportError) => void;
}

/**
 * The events of one watch response. `next` resolves to undefined when the server ends the stream, and rejects when the
 * stream breaks, falls silent or says ERROR. Only time spent waiting for the server counts as silence: a consumer may
 * take as long as it likes over an event.
 */
export class EventReader {
  readonly #lines: AsyncIterator<string>;
  readonly #options: EventReaderOptions;
  /** The consumer's wait for a line, if it waits. */
  #waiting: { since: number; reject: (error: unknown) => void } | undefined;
  /** Milliseconds without a line after which the stream counts as dead. */
  #inactivity: number;
  #timer: Timer;
  #silence: TransportError | undefined;

  constructor(body: ApiResponse["body"], inactivity: number, options: EventReaderOptions) {
    this.#lines = readLines(body)[Symbol.asyncIterator]();
    this.#options = options;
    this.#inactivity = inactivity;
    this.#timer = this.#checkAfter(inactivity);
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** From now on, as much silence is fine. */
  set inactivity(ms: number) {
    this.#inactivity = ms;
    this.#timer.cancel();
    this.#timer = this.#checkAfter(ms);
  }

  async next(): Promise<RawEvent | undefined> {
    const line = await this.#nextLine();
    if (line.done) return undefined;
    this.#options.onLine();
    const event = parseEvent(line.value);
    if (!event) throw this.#broken(`in the middle of an event: ${line.value.slice(0, 80)}`);
    if (event.type !== "ERROR") return event;
    const status = event.object as StatusObject;
    throw new ApiError({ ...status, code: status.code ?? 500 });
  }

  /** Gives the stream up. */
  close(): void {
    this.#timer.cancel();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#options.cancel(this.#silence);
    // The stream may be waiting for a line that never comes, so do not wait for it to finish.
    this.#lines.return?.()?.then(undefined, () => {});
  }

  #nextLine(): Promise<IteratorResult<string>> {
    const { clock, signal } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      this.#waiting = { since: clock.monotonic(), reject };
      this.#lines.next().then(
        (line) => {
          this.#waiting = undefined;
          resolve(line);
        },
        (cause: unknown) => {
          this.#waiting = undefined;
          reject(cause instanceof TransportError ? cause : this.#broken(String(cause), cause));
        },
      );
    });
  }

  readonly #onAbort = () => this.#waiting?.reject(this.#options.signal?.reason);

  /** One timer serves the whole stream: when it fires too early, it is set again for the rest. */
  #checkAfter(ms: number): Timer {
    const { clock } = this.#options;
    return clock.after(ms, () => this.#check(), { background: true, label: "watch inactivity" });
  }

  #check(): void {
    const { clock, subject } = this.#options;
    const silence = this.#waiting ? clock.monotonic() - this.#waiting.since : 0;
    if (silence < this.#inactivity) {
      this.#timer = this.#checkAfter(this.#inactivity - silence);
      return;
    }
    const message = `the watch of ${subject} received nothing for ${Math.round(silence)} ms`;
    this.#silence = new TransportError("timeout", message, { unknownOutcome: false });
    this.#waiting?.reject(this.#silence);
  }

  #broken(how: string, cause?: unknown): TransportError {
    const message = `the watch of ${this.#options.subject} broke: ${how}`;
    return new TransportError("closed", message, { cause, unknownOutcome: false });
  }
}

/** Undefined for a line that is no event: one that was cut short. */
function parseEvent(line: string): RawEvent | undefined {
  try {
    const event = parseJson(line) as Partial<RawEvent> | null;
    return typeof event?.type === "string" && event.object ? (event as RawEvent) : undefined;
  } catch {
    return undefined;
  }
}
