import type { ApiRequest, ApiResponse, HeaderMap } from "@konverge/core";
import type { Dispatcher } from "undici";
import { isWrite } from "../answer.ts";
import { TransportError } from "../errors.ts";
import { classifyError } from "./classify-error.ts";

/** Bytes waiting for their consumer at which the connection is paused. */
const HIGH_WATER = 1 << 18;
/** An answer that says it is no longer than this is handed on when it is complete: most are one object, in one chunk. */
const IN_ONE_PIECE = 1 << 16;

/**
 * Sends one request on a pool and resolves when its answer begins, or is complete if it is short. `onSilence` is called
 * if the server closed the connection without a response.
 */
export function exchange(
  pool: Dispatcher,
  origin: string,
  request: ApiRequest,
  onSilence: () => void,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const { method, path, signal } = request;
    pool.dispatch(
      { origin, method, path, headers: request.headers as Record<string, string>, body: request.body ?? null },
      new Exchange({ what: `${method} ${origin}${path}`, write: isWrite(method), signal, resolve, reject, onSilence }),
    );
  });
}

interface ExchangeOptions {
  what: string;
  write: boolean;
  signal: AbortSignal | undefined;
  resolve: (response: ApiResponse) => void;
  reject: (error: unknown) => void;
  onSilence: () => void;
}

/** One request in progress: undici calls it with what happens, and the caller reads the response's body from it. */
class Exchange implements Dispatcher.DispatchHandler, AsyncIterable<Uint8Array> {
  readonly #options: ExchangeOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #answered = false;
  /** A short answer, of which the body is still coming. */
  #short: Pick<ApiResponse, "status" | "headers"> | undefined;
  readonly #chunks: Uint8Array[] = [];
  #backlog = 0;
  #ended = false;
  #error: TransportError | undefined;
  #wake: (() => void) | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#options.signal?.aborted) this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HeaderMap): void {
    if (status < 200) return;
    if (Number(headers["content-length"]) <= IN_ONE_PIECE) {
      this.#short = { status, headers };
      return;
    }
    this.#answered = true;
    this.#options.resolve({ status, headers, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#backlog += chunk.length;
    if (this.#backlog > HIGH_WATER) controller.pause();
    this.#wake?.();
  }

  onResponseEnd(): void {
    this.#finish();
    if (!this.#short) return;
    const [first, ...more] = this.#chunks;
    const body = more.length > 0 ? Buffer.concat(this.#chunks) : (first ?? "");
    this.#options.resolve({ ...this.#short, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, cause: Error): void {
    const { what, write, signal } = this.#options;
    const sent = this.#controller !== undefined;
    const error = signal?.aborted
      ? new TransportError("aborted", `${what}: aborted`, { cause, unknownOutcome: sent && write })
      : classifyError(cause, what, { sent, write });
    this.#error = error;
    this.#finish();
    if (!this.#answered) this.#options.reject(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk) {
          this.#backlog -= chunk.length;
          if (this.#backlog <= HIGH_WATER && this.#controller?.paused) this.#controller.resume();
          yield chunk;
        } else if (this.#ended) {
          if (this.#error) throw this.#error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      // A caller that leaves early does not need the rest.
      this.#abort();
    }
  }

  readonly #onAbort = () => this.#abort();

  #abort(): void {
    if (this.#ended) return;
    const reason: unknown = this.#options.signal?.reason;
    if (reason instanceof TransportError && reason.code === "timeout") this.#options.onSilence();
    this.#controller?.abort(new Error(`${this.#options.what}: aborted`));
  }

  #finish(): void {
    this.#ended = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#wake?.();
  }
}
