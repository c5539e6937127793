import type { Clock, Timer } from "@konverge/core";

export interface ReconcileRateLimit {
  perSecond: number;
  /** How many may go at once after a pause. Default: as many as one second allows. */
  burst?: number;
}

/** Lets `perSecond` through on average, and up to `burst` at once. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;
  #timer: Timer | undefined;

  constructor(clock: Clock, limit: ReconcileRateLimit) {
    this.#clock = clock;
    this.#perMs = limit.perSecond / 1000;
    this.#burst = Math.max(1, limit.burst ?? limit.perSecond);
    this.#tokens = this.#burst;
    this.#at = clock.monotonic();
  }

  /** Takes a token and returns 0; or takes none and returns how many milliseconds until there is one. */
  take(): number {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#tokens < 1 - 1e-9) return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perMs));
    this.#tokens -= 1;
    return 0;
  }

  /** Calls back once after `ms`, however often it is asked meanwhile. */
  whenReady(ms: number, task: () => void): void {
    this.#timer ??= this.#clock.after(
      ms,
      () => {
        this.#timer = undefined;
        task();
      },
      { label: "rate limit" },
    );
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
