import { type Random, seededRandom } from "./random.ts";
import { cryptographicSecrets, type SecretSource } from "./secrets.ts";

/**
 * The time, timers and randomness of everything in Konverge. Nothing else calls Date.now, setTimeout, setImmediate or
 * Math.random, so that the same code runs in real time or on a {@link VirtualClock}, where a day takes a millisecond
 * and a seed repeats a run.
 */
export interface Clock {
  /** Whole wall-clock milliseconds since 1970. It can jump: use it for timestamps only. */
  now(): number;
  /** Monotonic milliseconds, for deadlines, backoff and leases. */
  monotonic(): number;
  /** Calls `task` once after `ms`, not earlier; never if `ms` is infinite. */
  after(ms: number, task: () => void, options?: TimerOptions): Timer;
  /**
   * Calls `task` in a separate turn, as soon as possible: every request, response and watch event is one. Turns with
   * the same label keep their order, so what must stay in order (the events of one watch) needs its own label.
   */
  post(task: () => void, label?: string): void;
  readonly random: Random;
  /** For passwords, tokens and keys. Independent of {@link random}. */
  readonly secrets: SecretSource;
}

/** Options of a timer. */
export interface TimerOptions {
  /** Periodic work (leases, heartbeats, resyncs): a cluster counts as idle while only such timers are pending. */
  background?: boolean;
  /** In real time, the process does not end while the timer is pending. Default: not if it is a background timer. */
  keepsProcess?: boolean;
  /** The name of the timer, for error messages. */
  label?: string;
}

/** A timer that has been set. */
export interface Timer {
  cancel(): void;
}

/** The current time as Kubernetes writes it: `2026-01-02T03:04:05Z`. */
export function timestamp(clock: Pick<Clock, "now">): string {
  const second = Math.floor(clock.now() / 1000);
  if (second !== lastStamp.second)
    lastStamp = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  return lastStamp.text;
}

/** Many things happen in one second. */
let lastStamp = { second: Number.NaN, text: "" };

/** The current time as MicroTime: `2026-01-02T03:04:05.000000Z`. */
export function microTimestamp(clock: Clock): string {
  const now = clock.now();
  const milliseconds = String(Math.floor(now) - Math.floor(now / 1000) * 1000).padStart(3, "0");
  return `${timestamp({ now: () => now }).slice(0, 19)}.${milliseconds}000Z`;
}

/** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
export function sleep(clock: Clock, ms: number, options: TimerOptions & { signal?: AbortSignal } = {}): Promise<void> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal!.reason);
    };
    const timer = clock.after(
      ms,
      () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      },
      options,
    );
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Node fires at once what is set to fire later than this. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * The clock of the machine. Background timers do not keep the process alive unless they say so. The seed repeats
 * `random`, never `secrets`.
 */
export function realClock(seed: number = Math.floor(Math.random() * 2 ** 48)): Clock {
  return {
    now: () => Date.now(),
    // Not performance.now(): the first use of that object loads the rest of it.
    monotonic: () => {
      const [seconds, nanoseconds] = process.hrtime();
      return seconds * 1000 + nanoseconds / 1e6;
    },
    after(ms, task, options) {
      let handle: NodeJS.Timeout;
      const wait = (left: number) => {
        handle =
          left > LONGEST_TIMEOUT ? setTimeout(wait, LONGEST_TIMEOUT, left - LONGEST_TIMEOUT) : setTimeout(task, left);
        if (!(options?.keepsProcess ?? !options?.background)) handle.unref();
      };
      wait(ms > 0 ? ms : 0);
      return { cancel: () => clearTimeout(handle) };
    },
    post: (task) => void setImmediate(task),
    random: seededRandom(seed),
    secrets: cryptographicSecrets,
  };
}
