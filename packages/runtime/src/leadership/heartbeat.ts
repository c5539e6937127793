import type { Clock, Timer } from "@konverge/core";

/**
 * Does something now and then, one after the other, until it is stopped. The waits vary a little, so that replicas that
 * started together do not stay in step.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #every: number;
  readonly #label: string;
  readonly #beat: () => Promise<void>;
  #timer: Timer | undefined;
  #stopped = false;
  #beating: Promise<void> | undefined;

  constructor(clock: Clock, options: { every: number; label: string; beat: () => Promise<void> }) {
    this.#clock = clock;
    this.#every = options.every;
    this.#label = options.label;
    this.#beat = options.beat;
  }

  /** Begins with a beat at once, and resolves when that is done. */
  async start(): Promise<void> {
    await this.#next();
  }

  /** Resolves when the last beat is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#beating;
  }

  async #next(): Promise<void> {
    if (this.#stopped) return;
    this.#beating = this.#beat();
    await this.#beating;
    if (this.#stopped) return;
    const wait = this.#every * (0.8 + this.#clock.random.next() * 0.4);
    // A replica that waits for its turn has nothing else that keeps its process from ending.
    const options = { background: true, keepsProcess: true, label: this.#label };
    this.#timer = this.#clock.after(wait, () => void this.#next(), options);
  }
}
