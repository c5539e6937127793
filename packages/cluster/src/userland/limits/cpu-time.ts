import type { Clock, Timer } from "@konverge/core";
import { type Processor, SLICE } from "./processor.ts";

/** A process that works. */
export interface Worker {
  readonly signal: AbortSignal;
  /** Nothing waits for it, so its work does not keep a cluster from becoming idle. */
  readonly background: boolean;
  /** Names it in the message about a cluster that does not become idle. */
  readonly label: string;
}

interface Waiting extends Worker {
  readonly resume: () => void;
}

/** Steps that a container may take at full speed before it is throttled. */
const CREDIT = 100_000;
/** Steps per millisecond: at full speed, and throttled. The latter is also the rate at which credit comes back. */
const FULL_SPEED = 500;
const THROTTLED_SPEED = 2;
/** CPU usage is the average over this long, as of metrics-server, in milliseconds. */
const WINDOW = 15_000;
const BETWEEN_MARKS = 1_000;

/**
 * The CPU time of one container. Interpreted steps take time on the cluster's clock: a script is as good as instant until it
 * has used up its credit, and then runs at a rate that a thousand busy containers can have without starving the API server.
 * On virtual time a busy loop therefore lets time pass, at a cost for each virtual hour that has a bound.
 *
 * All processes of the container share it: while it is paused, none of them continues.
 */
export class CpuTime {
  /** Number of CPUs, at most 1: a container is interpreted by one thread. */
  limit = 1;
  readonly #clock: Clock;
  readonly #processor: Processor;
  readonly #queue: Waiting[] = [];
  #steps = 0;
  #credit = CREDIT;
  #creditAt: number;
  #pausedUntil = 0;
  #isPaused = false;
  #isGranting = false;
  #timer: Timer | undefined;
  #used = 0;
  #marks: { at: number; used: number }[];

  constructor(clock: Clock, processor: Processor) {
    this.#clock = clock;
    this.#processor = processor;
    this.#creditAt = clock.monotonic();
    this.#marks = [{ at: this.#creditAt, used: 0 }];
  }

  /** Counts steps. What it returns, if anything, must be awaited before more work is done; rejects when killed. */
  spend(steps: number, worker: Worker): Promise<void> | undefined {
    this.#steps += steps;
    const isCrowded = this.#processor.spend(steps);
    if (this.#steps < SLICE && !isCrowded && !this.#isPaused) return undefined;
    return this.#wait(worker);
  }

  /** CPUs used on average in the last seconds. */
  get usage(): number {
    const now = this.#clock.monotonic();
    const from = this.#marks.findLast(({ at }) => at <= now - WINDOW) ?? this.#marks[0]!;
    const used = this.#used - Math.max(0, this.#pausedUntil - now) * this.limit;
    return now > from.at ? Math.max(0, used - from.used) / (now - from.at) : 0;
  }

  #wait(worker: Worker): Promise<void> {
    if (this.#steps >= SLICE) this.#pause();
    const { signal } = worker;
    const waited = new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        if (this.#queue.length === 0) this.#cancel();
        reject(signal.reason);
      };
      const waiting: Waiting = {
        ...worker,
        resume: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.push(waiting);
      this.#continue();
    });
    // Not every caller awaits it.
    waited.catch(() => {});
    return waited;
  }

  /** Takes the time that the steps since the last pause cost. */
  #pause(): void {
    const now = this.#clock.monotonic();
    const returned = (now - this.#creditAt) * this.limit * THROTTLED_SPEED;
    this.#credit = Math.min(CREDIT, this.#credit + returned) - this.#steps;
    this.#creditAt = now;
    // Usage above the available credit is waited for until the credit is restored.
    const cost = Math.max(this.#steps / FULL_SPEED, -this.#credit / THROTTLED_SPEED);
    this.#steps = 0;
    this.#used += cost;
    this.#pausedUntil = Math.max(now, this.#pausedUntil) + cost / this.limit;
    this.#isPaused = true;
    if (now - this.#marks.at(-1)!.at < BETWEEN_MARKS) return;
    this.#marks = this.#marks.filter(({ at }) => at > now - 2 * WINDOW);
    this.#marks.push({ at: now, used: this.#used - cost });
  }

  /** Resumes the first waiting process after the pause, in a later turn of the event loop. */
  #continue(): void {
    const [first] = this.#queue;
    if (!first || this.#timer || this.#isGranting) return;
    const left = this.#pausedUntil - this.#clock.monotonic();
    const background = this.#queue.every((waiting) => waiting.background);
    const options = { background, label: `cpu: ${first.label}` };
    if (left > 0) {
      this.#timer = this.#clock.after(
        left,
        () => {
          this.#timer = undefined;
          this.#continue();
        },
        options,
      );
      return;
    }
    this.#isPaused = false;
    this.#isGranting = true;
    this.#processor.turn(() => {
      this.#isGranting = false;
      // It may have been killed, or another process may have used up the slice.
      if (!this.#isPaused) this.#queue.shift()?.resume();
      this.#continue();
    }, options);
  }

  #cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
