import { type Clock, sleep } from "@konverge/core";

export interface RequestRateLimitOptions {
  /** Requests per second in the long run. */
  qps: number;
  /** Requests that may go at once after a quiet time. */
  burst: number;
}

/** A token bucket: requests wait in the order they came. */
export class RequestRateLimiter {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #burst: number;
  /** When the bucket would be empty if nobody asked any more: each request moves it one interval on. */
  #horizon = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, { qps, burst }: RequestRateLimitOptions) {
    if (!(qps > 0) || !(burst >= 1)) {
      throw new TypeError(`a rate limit needs qps > 0 and burst >= 1, got qps ${qps} and burst ${burst}`);
    }
    this.#clock = clock;
    this.#interval = 1000 / qps;
    this.#burst = burst;
  }

  /** Resolves when the next request may go. */
  async take(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    this.#horizon = Math.max(this.#horizon, now - this.#interval * this.#burst) + this.#interval;
    const wait = this.#horizon - now;
    if (wait > 0) await sleep(this.#clock, wait, { signal, label: "rate limit" });
  }
}
