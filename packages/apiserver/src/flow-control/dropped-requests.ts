import type { Clock } from "@konverge/core";

/** Seconds that a client is asked to wait at most. */
const LONGEST = 32;

/**
 * How long clients of a priority level are asked to wait: twice as long as before while many are refused, a second less when
 * few are.
 */
export class DroppedRequests {
  readonly #clock: Clock;
  #history: { second: number; count: number }[] = [];
  #retryAfter = 1;
  #raisedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A request is refused; the seconds that its client is asked to wait. */
  record(): number {
    const second = Math.floor(this.#clock.now() / 1000);
    const last = this.#history.at(-1);
    if (last?.second === second) last.count++;
    else {
      this.#adjust(second);
      const kept = Math.min(2 * this.#retryAfter, LONGEST);
      this.#history = this.#history.filter((one) => second - one.second <= kept);
      this.#history.push({ second, count: 1 });
    }
    return this.#retryAfter;
  }

  #adjust(second: number): void {
    const recent = this.#history.filter((one) => second - one.second <= this.#retryAfter);
    const count = recent.reduce((sum, one) => sum + one.count, 0);
    if (second - this.#raisedAt >= this.#retryAfter && count >= 3 * this.#retryAfter) {
      this.#retryAfter = Math.min(2 * this.#retryAfter, LONGEST);
      this.#raisedAt = second;
    } else if (count < this.#retryAfter && this.#retryAfter > 1) this.#retryAfter--;
  }
}
