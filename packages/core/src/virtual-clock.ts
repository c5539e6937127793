import type { Clock, Timer, TimerOptions } from "./clock.ts";
import { type Random, seededRandom } from "./random.ts";

interface Entry {
  due: number;
  order: number;
  task: () => void;
  background: boolean;
  label: string;
  cancelled: boolean;
}

export interface VirtualClockOptions {
  /** Where the wall clock starts, in milliseconds since 1970. */
  start?: number;
  seed?: number;
  /** Let the seed choose among entries that are due at the same time, instead of first come, first served. */
  shuffle?: boolean;
}

/** 2026-01-01T00:00:00Z: any fixed moment will do, as long as two runs share it. */
const DEFAULT_START = Date.UTC(2026, 0, 1);

/**
 * A clock that is also the scheduler. Every timer, request, response and watch event is one entry; {@link step} takes the
 * earliest, moves time to it, runs it and lets all promises it woke run to their next wait. Nothing that finishes outside
 * JavaScript's own turn (sockets, files, the thread pool) may happen in between: the scheduler could not see it.
 */
export class VirtualClock implements Clock {
  readonly random: Random;
  readonly #start: number;
  readonly #shuffle: Random | undefined;
  readonly #entries: Entry[] = [];
  #elapsed = 0;
  #order = 0;

  constructor(options: VirtualClockOptions = {}) {
    const seed = options.seed ?? 1;
    this.#start = options.start ?? DEFAULT_START;
    this.random = seededRandom(seed);
    this.#shuffle = options.shuffle ? seededRandom(seed + 1) : undefined;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, task: () => void, options: TimerOptions = {}): Timer {
    const entry = this.#push(
      this.#elapsed + Math.max(0, ms),
      task,
      options.background ?? false,
      options.label ?? "timer",
    );
    return {
      cancel: () => {
        entry.cancelled = true;
      },
    };
  }

  post(task: () => void, label = "turn"): void {
    this.#push(this.#elapsed, task, false, label);
  }

  /** Runs the next entry that is due no later than `until` (elapsed milliseconds). False when there is none. */
  async step(until = Number.POSITIVE_INFINITY): Promise<boolean> {
    await drain();
    const entry = this.#pop(until);
    if (!entry) return false;
    this.#elapsed = Math.max(this.#elapsed, entry.due);
    entry.task();
    await drain();
    return true;
  }

  /** Lets `ms` pass, running all that falls due. */
  async advance(ms: number): Promise<void> {
    const until = this.#elapsed + ms;
    while (await this.step(until));
    this.#elapsed = until;
  }

  /** When the next entry that is not background falls due (elapsed milliseconds), or undefined. */
  nextForeground(): { due: number; label: string } | undefined {
    let next: Entry | undefined;
    for (const entry of this.#entries) {
      if (!entry.cancelled && !entry.background && (!next || before(entry, next))) next = entry;
    }
    return next && { due: next.due, label: next.label };
  }

  /** What still waits, for messages: label and due time of each entry, soonest first. */
  pending(): { label: string; due: number; background: boolean }[] {
    return this.#entries
      .filter((entry) => !entry.cancelled)
      .sort((a, b) => (before(a, b) ? -1 : 1))
      .map(({ label, due, background }) => ({ label, due, background }));
  }

  #push(due: number, task: () => void, background: boolean, label: string): Entry {
    const tie = this.#shuffle ? this.#shuffle.next() : 0;
    const entry: Entry = {
      due,
      order: tie + this.#order++ * (this.#shuffle ? 0 : 1),
      task,
      background,
      label,
      cancelled: false,
    };
    const heap = this.#entries;
    let i = heap.push(entry) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = entry;
    return entry;
  }

  #pop(until: number): Entry | undefined {
    const heap = this.#entries;
    while (heap.length > 0 && (heap[0]!.cancelled || heap[0]!.due <= until)) {
      const top = heap[0]!;
      const last = heap.pop()!;
      if (heap.length > 0) this.#sink(last);
      if (!top.cancelled) return top;
    }
    return undefined;
  }

  #sink(entry: Entry): void {
    const heap = this.#entries;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, entry)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = entry;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}

/** All microtasks run before a setImmediate callback does. */
function drain(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
