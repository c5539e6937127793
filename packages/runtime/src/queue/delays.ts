import type { Clock, Timer } from "@konverge/core";
import { Heap } from "./heap.ts";

interface Delay {
  key: string;
  due: number;
}

/** Keys that become due later: for each key the earliest moment asked for, and one timer for all of them. */
export class Delays {
  readonly #clock: Clock;
  readonly #background: boolean;
  readonly #label: string;
  readonly #onDue: (key: string) => void;
  readonly #due = new Map<string, number>();
  readonly #heap = new Heap<Delay>((a, b) => a.due < b.due);
  #timer: { due: number; timer: Timer } | undefined;

  constructor(clock: Clock, options: { background: boolean; label: string; onDue: (key: string) => void }) {
    this.#clock = clock;
    this.#background = options.background;
    this.#label = options.label;
    this.#onDue = options.onDue;
  }

  get size(): number {
    return this.#due.size;
  }

  /** A later moment than the one already known for the key changes nothing. */
  set(key: string, ms: number): void {
    const due = this.#clock.monotonic() + ms;
    const known = this.#due.get(key);
    if (known !== undefined && known <= due) return;
    this.#due.set(key, due);
    this.#heap.push({ key, due });
    this.#arm();
  }

  delete(key: string): void {
    this.#due.delete(key);
  }

  clear(): void {
    this.#due.clear();
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    const next = this.#next();
    if (!next || (this.#timer && this.#timer.due <= next.due)) return;
    this.#timer?.timer.cancel();
    const wait = Math.max(0, next.due - this.#clock.monotonic());
    const timer = this.#clock.after(wait, () => this.#fire(), { background: this.#background, label: this.#label });
    this.#timer = { due: next.due, timer };
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let next = this.#next(); next && next.due <= now; next = this.#next()) {
      this.#heap.pop();
      this.#due.delete(next.key);
      this.#onDue(next.key);
    }
    this.#arm();
  }

  /** The earliest delay that still counts; entries that were overtaken or deleted are thrown away on the way. */
  #next(): Delay | undefined {
    for (;;) {
      const next = this.#heap.peek();
      if (!next || this.#due.get(next.key) === next.due) return next;
      this.#heap.pop();
    }
  }
}
