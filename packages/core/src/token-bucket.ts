import type { Clock } from "./clock.ts";

/** A rate limit. */
export interface TokenRate {
  perSecond: number;
  /** How many can start at once. Default: as many as in one second. */
  burst?: number;
}

/** Lets `perSecond` through on average, and up to `burst` at once. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #burst: number;
  /** When the bucket was, or will be, empty: each token that is taken moves it one interval on. */
  #empty = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, { perSecond, burst = perSecond }: TokenRate) {
    this.#clock = clock;
    this.#interval = 1000 / perSecond;
    this.#burst = Math.max(1, burst);
  }

  /** Takes a token and returns 0; or takes none and returns how many milliseconds until there is one. */
  take(): number {
    const wait = this.#next() - this.#clock.monotonic();
    // Less than what rounding leaves over is nothing.
    if (wait > this.#interval * 1e-9) return Math.ceil(wait);
    this.#empty = this.#next();
    return 0;
  }

  /** Takes a token that may not be there yet, and returns how many milliseconds until it is: waiters go in order. */
  reserve(): number {
    this.#empty = this.#next();
    return Math.max(0, this.#empty - this.#clock.monotonic());
  }

  /** When the next token is there. */
  #next(): number {
    const full = this.#clock.monotonic() - this.#interval * this.#burst;
    return Math.max(this.#empty, full) + this.#interval;
  }
}
