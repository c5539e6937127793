import type { Clock, TimerOptions } from "@konverge/core";

/** Steps of interpreted containers between two turns of the event loop. A step is some microseconds of work. */
export const SLICE = 500;

interface Waiting {
  readonly task: () => void;
  readonly options: TimerOptions;
}

/**
 * Shares this process's only thread between all interpreted containers and everything else in it, above all the API
 * server: after {@link SLICE} steps, whichever containers have taken them, a container waits for the next turn of the event
 * loop. Waiting containers continue one at a time, first come, first served, with a turn of the event loop between any two.
 *
 * Steps are counted, never timed, so that a cluster on virtual time stays deterministic.
 */
export class Processor {
  readonly #clock: Clock;
  readonly #queue: Waiting[] = [];
  #foreground = 0;
  #used = 0;
  #isScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts steps. True: the slice is used up, and the container must wait for a {@link turn}. */
  spend(steps: number): boolean {
    this.#used += steps;
    return this.#used >= SLICE;
  }

  /** Calls back in a turn of the event loop in which no other container that waited continues. */
  turn(task: () => void, options: TimerOptions): void {
    this.#queue.push({ task, options });
    if (!options.background) this.#foreground++;
    this.#schedule();
  }

  #schedule(): void {
    const [first] = this.#queue;
    if (this.#isScheduled || !first) return;
    this.#isScheduled = true;
    // A turn that is posted would always count as foreground work.
    const background = this.#foreground === 0;
    this.#clock.after(0, () => this.#next(), { ...first.options, background });
  }

  #next(): void {
    this.#isScheduled = false;
    this.#used = 0;
    const next = this.#queue.shift();
    if (!next) return;
    if (!next.options.background) this.#foreground--;
    next.task();
    this.#schedule();
  }
}
