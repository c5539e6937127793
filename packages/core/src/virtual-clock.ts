import type { Clock, Timer, TimerOptions } from "./clock.ts";
import { type Random, seededRandom } from "./random.ts";
import { predictableSecrets, type SecretSource } from "./secrets.ts";

interface Entry {
  due: number;
  /** Among entries of the same time: by chance when shuffling, otherwise in the order of their making. */
  rank: number;
  order: number;
  task: () => void;
  background: boolean;
  label: string;
  /** Run, cancelled, or never to come. */
  done: boolean;
  /** Only when shuffling: the turn of the same label that waits for this one. */
  next?: Entry;
}

/** Options of a {@link VirtualClock}. */
export interface VirtualClockOptions {
  /** The start of the wall clock, in milliseconds since 1970. */
  start?: number;
  seed?: number;
  /**
   * Let the seed choose the order of entries that are due at the same time. Causes still come before their effects, and
   * turns with the same label keep their order, as on a network connection.
   */
  shuffle?: boolean;
}

/** 2026-01-01T00:00:00Z: any fixed moment will do, as long as two runs share it. */
const DEFAULT_START = Date.UTC(2026, 0, 1);

/**
 * A clock that is also a scheduler. Every timer, request, response and watch event is one entry; {@link step} advances
 * the time to the earliest one, runs it, and waits for the promises that it resolved. Operations outside of JavaScript
 * (sockets, files, the thread pool) must not happen in between: the scheduler cannot see them.
 */
export class VirtualClock implements Clock {
  readonly random: Random;
  readonly secrets: SecretSource;
  readonly #start: number;
  readonly #shuffle: Random | undefined;
  /** A heap: the earliest first. */
  #entries: Entry[] = [];
  /** Only when shuffling: the last waiting turn of each label. The first of them is in the heap. */
  readonly #lastTurns = new Map<string, Entry>();
  #elapsed = 0;
  #order = 0;
  #cancelled = 0;

  constructor(options: VirtualClockOptions = {}) {
    const seeds = seededRandom(options.seed ?? 1);
    this.#start = options.start ?? DEFAULT_START;
    this.random = seeds.fork();
    const shuffle = seeds.fork();
    this.#shuffle = options.shuffle ? shuffle : undefined;
    this.secrets = predictableSecrets(seeds.fork());
  }

  now(): number {
    return Math.floor(this.#start + this.#elapsed);
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, task: () => void, options: TimerOptions = {}): Timer {
    const entry = this.#entry(task, options.label ?? "timer", options.background ?? false);
    entry.due += ms > 0 ? ms : 0;
    if (entry.due === Number.POSITIVE_INFINITY) entry.done = true;
    else this.#push(entry);
    return { cancel: () => this.#cancel(entry) };
  }

  post(task: () => void, label = "turn"): void {
    const entry = this.#entry(task, label, false);
    if (this.#shuffle) {
      const last = this.#lastTurns.get(label);
      this.#lastTurns.set(label, entry);
      if (last) {
        last.next = entry;
        return;
      }
    }
    this.#push(entry);
  }

  /** Runs the next entry that is due no later than `until` (elapsed milliseconds). False when there is none. */
  async step(until = Number.POSITIVE_INFINITY): Promise<boolean> {
    await drain();
    return this.#run(until);
  }

  /** Advances the time by `ms` and runs everything that is due. */
  async advance(ms: number): Promise<void> {
    await this.advanceAtMost(ms, Number.POSITIVE_INFINITY);
  }

  /**
   * Advances the time by `ms` and runs what is due, but at most this many entries. Returns true if all of the time has
   * passed.
   */
  async advanceAtMost(ms: number, entries: number): Promise<boolean> {
    const until = this.#elapsed + ms;
    await drain();
    for (let count = 0; await this.#run(until); ) if (++count >= entries) return false;
    this.#elapsed = Math.max(this.#elapsed, until);
    return true;
  }

  /** When the next entry that is not background is due (elapsed milliseconds), or undefined. */
  nextForeground(): { due: number; label: string } | undefined {
    let next: Entry | undefined;
    for (const entry of this.#entries) {
      if (!entry.done && !entry.background && (!next || before(entry, next))) next = entry;
    }
    return next && { due: next.due, label: next.label };
  }

  /** The pending entries, for messages: label and due time of each, earliest first. */
  pending(): { label: string; due: number; background: boolean }[] {
    const waiting: Entry[] = [];
    for (const head of this.#entries) {
      for (let entry: Entry | undefined = head; entry; entry = entry.next) if (!entry.done) waiting.push(entry);
    }
    return waiting
      .sort((a, b) => a.due - b.due || a.order - b.order)
      .map(({ label, due, background }) => ({ label, due, background }));
  }

  async #run(until: number): Promise<boolean> {
    const entry = this.#pop(until);
    if (!entry) return false;
    this.#elapsed = Math.max(this.#elapsed, entry.due);
    entry.task();
    await drain();
    return true;
  }

  #entry(task: () => void, label: string, background: boolean): Entry {
    const order = this.#order++;
    return { due: this.#elapsed, rank: order, order, task, background, label, done: false };
  }

  #cancel(entry: Entry): void {
    if (entry.done) return;
    entry.done = true;
    this.#cancelled++;
    // Most time-outs are cancelled long before they are due: they must not pile up until then.
    if (this.#cancelled < 64 || this.#cancelled * 2 < this.#entries.length) return;
    this.#entries = this.#entries.filter((other) => !other.done).sort((a, b) => (before(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }

  #push(entry: Entry): void {
    if (this.#shuffle) entry.rank = this.#shuffle.next();
    const heap = this.#entries;
    let i = heap.push(entry) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = entry;
  }

  #pop(until: number): Entry | undefined {
    const heap = this.#entries;
    while (heap.length > 0 && (heap[0]!.done || heap[0]!.due <= until)) {
      const top = heap[0]!;
      const last = heap.pop()!;
      if (heap.length > 0) this.#sink(last);
      if (top.done) {
        this.#cancelled--;
        continue;
      }
      top.done = true;
      if (top.next) this.#push(top.next);
      else if (this.#lastTurns.get(top.label) === top) this.#lastTurns.delete(top.label);
      return top;
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
  return a.due < b.due || (a.due === b.due && (a.rank < b.rank || (a.rank === b.rank && a.order < b.order)));
}

/** All microtasks run before a setImmediate callback does. */
function drain(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
