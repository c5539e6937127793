import { ApiError, type ApiResponse, type Clock, parseJson, readLines, type StatusObject } from "@konverge/core";
import { TransportError } from "../errors.ts";

/** One line of a watch response. */
export interface RawEvent {
  type: string;
  object: unknown;
}

export interface EventReaderOptions {
  clock: Clock;
  /** Milliseconds without a line after which the stream counts as dead. */
  inactivity: number;
  signal: AbortSignal | undefined;
  /** Called for every line. */
  onLine: () => void;
  /** Gives the request up. */
  cancel: () => void;
}

/**
 * The events of one watch response. `next` resolves to undefined when the server ends the stream, and rejects when the
 * stream breaks, falls silent or says ERROR. Only time spent waiting for the server counts as silence: a consumer may
 * take as long as it likes over an event.
 */
export class EventReader {
  readonly #lines: AsyncIterator<string>;
  readonly #options: EventReaderOptions;

  constructor(body: ApiResponse["body"], options: EventReaderOptions) {
    this.#lines = readLines(body)[Symbol.asyncIterator]();
    this.#options = options;
  }

  async next(): Promise<RawEvent | undefined> {
    const line = await this.#nextLine();
    if (line.done) return undefined;
    this.#options.onLine();
    const event = parseEvent(line.value);
    if (event.type !== "ERROR") return event;
    const status = event.object as StatusObject;
    throw new ApiError({ ...status, code: status.code ?? 500 });
  }

  /** Gives the stream up. */
  close(): void {
    this.#options.cancel();
    // The stream may be waiting for a line that never comes, so nobody waits for it to finish.
    this.#lines.return?.()?.then(undefined, () => {});
  }

  #nextLine(): Promise<IteratorResult<string>> {
    const { clock, inactivity, signal } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const finish = () => {
        timer.cancel();
        signal?.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        finish();
        reject(signal!.reason);
      };
      const timer = clock.after(
        inactivity,
        () => {
          finish();
          const message = `the watch has been silent for ${inactivity} ms`;
          reject(new TransportError("timeout", message, { inDoubt: false }));
        },
        { background: true, label: "watch inactivity" },
      );
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#lines.next().then(
        (line) => {
          finish();
          resolve(line);
        },
        (cause: unknown) => {
          finish();
          if (cause instanceof TransportError) return reject(cause);
          reject(new TransportError("closed", `the watch broke: ${String(cause)}`, { cause, inDoubt: false }));
        },
      );
    });
  }
}

/** A line that is not an event is one that was cut short: the stream is over. */
function parseEvent(line: string): RawEvent {
  try {
    const event = parseJson(line) as Partial<RawEvent> | null;
    if (typeof event?.type === "string" && event.object !== undefined) return event as RawEvent;
  } catch {}
  const start = line.slice(0, 80);
  throw new TransportError("closed", `the watch broke in the middle of an event: ${start}`, { inDoubt: false });
}
