import {
  type Clock,
  type Random,
  type SecretSource,
  standsOn,
  type Timer,
  type TimerOptions,
  VirtualClock,
} from "@konverge/core";

/** What still waits for its time: a timer, or (due now) a turn. */
export interface Waiting {
  readonly label: string;
  /** On the monotonic clock, in milliseconds. */
  readonly due: number;
}

/** A clock that can list its pending timers: the given one, if it can, or else one that wraps it. */
export function knowing(clock: Clock): Clock {
  return clock instanceof VirtualClock || clock instanceof TimedWork ? clock : new TimedWork(clock);
}

/** What waits on a clock, except housekeeping, soonest first. */
export function foregroundOf(clock: Clock): Waiting[] {
  if (clock instanceof VirtualClock) return clock.pending().filter(({ background }) => !background);
  return clock instanceof TimedWork ? clock.foreground() : [];
}

/** Another clock, with a list of what waits on it. */
class TimedWork implements Clock {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
    standsOn(this, clock);
  }

  get random(): Random {
    return this.#clock.random;
  }

  get secrets(): SecretSource {
    return this.#clock.secrets;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, task: () => void, options: TimerOptions = {}): Timer {
    if (options.background || ms === Number.POSITIVE_INFINITY) return this.#clock.after(ms, task, options);
    const waiting = { label: options.label ?? "timer", due: this.#clock.monotonic() + ms };
    this.#waiting.add(waiting);
    const timer = this.#clock.after(
      ms,
      () => {
        this.#waiting.delete(waiting);
        task();
      },
      options,
    );
    return {
      cancel: () => {
        this.#waiting.delete(waiting);
        timer.cancel();
      },
    };
  }

  post(task: () => void, label = "turn"): void {
    const waiting = { label, due: this.#clock.monotonic() };
    this.#waiting.add(waiting);
    this.#clock.post(() => {
      this.#waiting.delete(waiting);
      task();
    }, label);
  }

  foreground(): Waiting[] {
    return [...this.#waiting].sort((a, b) => a.due - b.due);
  }
}
