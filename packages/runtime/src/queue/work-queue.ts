import {
  type BackoffLimits,
  backoffAfter,
  type Clock,
  type ObjectKey,
  splitKey,
  type Timer,
  TokenBucket,
  type TokenRate,
} from "@konverge/core";
import { Delays } from "./delays.ts";
import { Heap } from "./heap.ts";

/**
 * The priority of a key: `low` for objects of a listing, `normal` for changes, `high` for `reconcile-now`. Each step is
 * a head start of {@link WorkQueueOptions.aging}, not a separate class, so nothing starves.
 */
export type QueuePriority = "low" | "normal" | "high";

export interface WorkQueueOptions {
  clock: Clock;
  /** For the labels of timers. */
  name: string;
  /** Milliseconds that a step of priority is worth: a low key that has waited this long equals a fresh normal one. */
  aging?: number;
  /** Milliseconds by which each waiting key of a namespace puts the next one of the same namespace back. */
  fairness?: number;
  backoff?: Partial<BackoffLimits>;
  /** A test cluster counts as idle while retries wait. Default: false. */
  backgroundRetries?: boolean | undefined;
  /** Rate limit for all keys together. Default: no limit. */
  rateLimit?: TokenRate;
}

export interface QueueAddOptions {
  priority?: QueuePriority;
  /** A delay in milliseconds. */
  after?: number;
}

const DEFAULTS = { aging: 60_000, fairness: 1_000, backoff: { initial: 200, longest: 300_000 } };
const HEAD_START: Record<QueuePriority, number> = { high: -1, normal: 0, low: 1 };

interface Waiting {
  key: ObjectKey;
  priority: QueuePriority;
  /** Keys are handed out in this order: the time they came, put back or forward by fairness and priority. */
  rank: number;
  order: number;
  since: number;
}

/**
 * The queue of keys to reconcile. Each key is in it at most once.
 *
 * Flow: {@link add} → {@link take} → work → {@link done} or {@link retry}.
 *
 * Guarantees
 * - At most one worker has a key at a time. A key that is added while a worker has it is handed out again afterwards.
 * - A key that was added is handed out at least once after the add (after its delay, if it has one).
 * - No key starves: rank does not change with time, and later keys rank ever later.
 * - A namespace with many waiting keys does not hold up the others: its keys are spaced out, theirs go in between.
 * - A key that fails is retried with exponential backoff and jitter until it succeeds; a new add does not wait for
 *   that.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #aging: number;
  readonly #fairness: number;
  readonly #backoff: BackoffLimits;
  readonly #bucket: TokenBucket | undefined;
  /** Runs until there is a token again. */
  #refill: Timer | undefined;
  readonly #heap = new Heap<Waiting>((a, b) => a.rank < b.rank || (a.rank === b.rank && a.order < b.order));
  readonly #waiting = new Map<ObjectKey, Waiting>();
  /** Keys being worked on; the value is the priority with which they were added again meanwhile. */
  readonly #working = new Map<ObjectKey, QueuePriority | undefined>();
  readonly #failures = new Map<ObjectKey, number>();
  /** For each namespace and priority with waiting keys: how many, and where the last one was placed in time. */
  readonly #lanes = new Map<string, { count: number; tag: number }>();
  readonly #retries: Delays;
  readonly #later: Delays;
  #order = 0;
  #closed = false;
  /** Called when a key may have become available. */
  onReady: () => void = () => {};

  constructor(options: WorkQueueOptions) {
    const { clock, name } = options;
    this.#clock = clock;
    this.#aging = options.aging ?? DEFAULTS.aging;
    this.#fairness = options.fairness ?? DEFAULTS.fairness;
    this.#backoff = { ...DEFAULTS.backoff, ...options.backoff };
    this.#bucket = options.rateLimit && new TokenBucket(clock, options.rateLimit);
    const onDue = (key: ObjectKey) => this.add(key);
    this.#retries = new Delays(clock, {
      background: options.backgroundRetries ?? false,
      label: `${name}: retry`,
      onDue,
    });
    this.#later = new Delays(clock, { background: true, label: `${name}: later`, onDue });
  }

  /** Keys that wait for a worker or for the rate limit. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** The same, by priority. */
  get depths(): Readonly<Record<QueuePriority, number>> {
    const depths = { low: 0, normal: 0, high: 0 };
    for (const [name, { count }] of this.#lanes) depths[name.slice(name.indexOf(" ") + 1) as QueuePriority] += count;
    return depths;
  }

  /** Keys that workers have. */
  get working(): number {
    return this.#working.size;
  }

  /** Keys that wait for a retry. */
  get retrying(): number {
    return this.#retries.size;
  }

  add(key: ObjectKey, { priority = "normal", after = 0 }: QueueAddOptions = {}): void {
    if (this.#closed) return;
    if (after > 0) this.#later.set(key, after);
    else if (this.#working.has(key)) {
      const known = this.#working.get(key);
      if (known === undefined || HEAD_START[priority] < HEAD_START[known]) this.#working.set(key, priority);
    } else this.#enqueue(key, priority);
  }

  /**
   * The next key to work on, or undefined if there is none now; {@link onReady} is called when one may be available.
   */
  take(): { key: ObjectKey; waited: number } | undefined {
    const next = this.#first();
    if (!next) return undefined;
    const wait = this.#bucket?.take() ?? 0;
    if (wait > 0) {
      this.#wakeAfter(wait);
      return undefined;
    }
    this.#heap.pop();
    this.#leave(next);
    this.#retries.delete(next.key);
    this.#working.set(next.key, undefined);
    return { key: next.key, waited: this.#clock.monotonic() - next.since };
  }

  #wakeAfter(ms: number): void {
    const refilled = () => {
      this.#refill = undefined;
      this.onReady();
    };
    this.#refill ??= this.#clock.after(ms, refilled, { label: "rate limit" });
  }

  /** The key was reconciled successfully. `after`: reconcile again after this time; it replaces an earlier request. */
  done(key: ObjectKey, next: { after?: number } = {}): void {
    this.#failures.delete(key);
    this.#later.delete(key);
    this.#release(key);
    if (next.after !== undefined) this.add(key, { after: Math.max(1, next.after) });
  }

  /** The key failed: retries it after the returned delay, in milliseconds, which is at least `least`. */
  retry(key: ObjectKey, least = 0): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const wait = Math.max(least, backoffAfter(failures, this.#backoff, this.#clock.random));
    if (!this.#closed) this.#retries.set(key, wait);
    this.#release(key);
    return wait;
  }

  /** The number of consecutive failures of the key. */
  failures(key: ObjectKey): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Removes a key: no retry, no later reconcile. A reconcile in progress is not affected. */
  forget(key: ObjectKey): void {
    this.#failures.delete(key);
    this.#retries.delete(key);
    this.#later.delete(key);
  }

  /** Stops handing out keys. */
  close(): void {
    this.#closed = true;
    this.#retries.clear();
    this.#later.clear();
    this.#waiting.clear();
    this.#lanes.clear();
    this.#refill?.cancel();
  }

  #release(key: ObjectKey): void {
    const again = this.#working.get(key);
    if (!this.#working.delete(key)) throw new Error(`${key} was returned to the queue, but no worker had taken it`);
    if (again !== undefined && !this.#closed) this.#enqueue(key, again);
    else if (this.#waiting.size > 0) this.onReady();
  }

  #enqueue(key: ObjectKey, priority: QueuePriority): void {
    const known = this.#waiting.get(key);
    if (known && HEAD_START[known.priority] <= HEAD_START[priority]) return;
    if (known) this.#leave(known);
    const now = this.#clock.monotonic();
    const name = laneOf(key, priority);
    const lane = this.#lanes.get(name);
    const tag = lane ? Math.max(now, lane.tag + this.#fairness) : now;
    if (lane) {
      lane.count++;
      lane.tag = tag;
    } else this.#lanes.set(name, { count: 1, tag });
    const rank = tag + HEAD_START[priority] * this.#aging;
    // What has become more urgent does not fall back behind the place it had.
    const entry = { key, priority, rank: Math.min(rank, known?.rank ?? rank), order: this.#order++ };
    this.#place({ ...entry, since: known?.since ?? now });
    this.onReady();
  }

  #place(entry: Waiting): void {
    this.#waiting.set(entry.key, entry);
    this.#heap.push(entry);
  }

  /** The first entry that still counts; overtaken ones are thrown away on the way. */
  #first(): Waiting | undefined {
    for (;;) {
      const next = this.#heap.peek();
      if (!next || this.#waiting.get(next.key) === next) return next;
      this.#heap.pop();
    }
  }

  #leave({ key, priority }: Waiting): void {
    this.#waiting.delete(key);
    const name = laneOf(key, priority);
    const lane = this.#lanes.get(name)!;
    if (--lane.count === 0) this.#lanes.delete(name);
  }
}

const laneOf = (key: ObjectKey, priority: QueuePriority) => `${splitKey(key).namespace ?? ""} ${priority}`;
