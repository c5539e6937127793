import { ApiError, type BackoffLimits, backoffAfter, type Clock } from "@konverge/core";
import { TransportError } from "./errors.ts";

export interface RetryOptions {
  /** Maximum number of attempts. Default: 5. */
  tries?: number;
  /** The first delay in milliseconds, unless the server sets one; it doubles. Default: 100. */
  initial?: number;
  /** The maximum delay in milliseconds. Default: 5 s. */
  longest?: number;
}

/**
 * Decides whether a failed request is sent again, and when. Only what is safe:
 * - anything that the server turned away unprocessed and asked to send again (429 or 503 with Retry-After);
 * - anything that cannot have reached the server (no connection);
 * - reads, and questions that are asked with POST, when the connection broke or a server in between was overloaded.
 *
 * A write whose response was lost is never repeated: the caller must read first.
 */
export class RetryPolicy {
  readonly #tries: number;
  readonly #clock: Clock;
  readonly #limits: BackoffLimits;
  #sent = 1;

  constructor(clock: Clock, { tries = 5, initial = 100, longest = 5000 }: RetryOptions = {}) {
    this.#tries = tries;
    this.#clock = clock;
    this.#limits = { initial, longest };
  }

  /** Milliseconds to wait before the next try of a request that is a `read` or not; undefined when there is to be none. */
  waitAfter(error: unknown, read: boolean): number | undefined {
    if (this.#sent >= this.#tries || !isSafe(error, read)) return undefined;
    const wait = backoffAfter(this.#sent++ - 1, this.#limits, this.#clock.random);
    return Math.max(wait, error instanceof ApiError ? (error.retryAfter ?? 0) : 0);
  }
}

function isSafe(error: unknown, read: boolean): boolean {
  if (error instanceof ApiError) {
    if ((error.code === 429 || error.code === 503) && error.retryAfter !== undefined) return true;
    return read && GATEWAY_FAILURES.has(error.code);
  }
  if (!(error instanceof TransportError)) return false;
  return error.code === "unreachable" || (error.code === "closed" && read);
}

const GATEWAY_FAILURES = new Set([502, 503, 504]);
