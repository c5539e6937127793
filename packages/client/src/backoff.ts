import type { Clock } from "@konverge/core";

export interface BackoffOptions {
  /** The first wait, in milliseconds. */
  initial: number;
  /** No wait is longer. */
  longest: number;
}

/**
 * Waits that double, each drawn from the upper half of its range, so that many clients that lost the same server do not
 * come back at the same moment.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #options: BackoffOptions;
  #next: number;

  constructor(clock: Clock, options: BackoffOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#next = options.initial;
  }

  /** The next wait in milliseconds. */
  next(): number {
    const range = this.#next;
    this.#next = Math.min(range * 2, this.#options.longest);
    return range * (0.5 + this.#clock.random.next() / 2);
  }

  /** Things went well: start small again. */
  reset(): void {
    this.#next = this.#options.initial;
  }
}
