import { type Clock, sleep, TokenBucket } from "@konverge/core";

export interface RequestRateLimitOptions {
  /** Requests per second in the long run. */
  qps: number;
  /** Requests that can be sent at once. */
  burst: number;
}

/** A token bucket: requests wait in the order they came. */
export class RequestRateLimiter {
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;

  constructor(clock: Clock, { qps, burst }: RequestRateLimitOptions) {
    if (!(qps > 0) || !(burst >= 1)) {
      throw new TypeError(`a rate limit needs qps > 0 and burst >= 1, got qps ${qps} and burst ${burst}`);
    }
    this.#clock = clock;
    this.#bucket = new TokenBucket(clock, { perSecond: qps, burst });
  }

  /** Resolves when the next request may go. */
  async take(signal: AbortSignal): Promise<void> {
    const wait = this.#bucket.reserve();
    if (wait > 0) await sleep(this.#clock, wait, { signal, label: "rate limit" });
  }
}
