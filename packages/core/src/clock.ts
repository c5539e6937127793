import { type Random, seededRandom } from "./random.ts";
import { cryptographicSecrets, type SecretSource } from "./secrets.ts";

/**
 * Time, turns and chance, as everything in Konverge sees them. Nothing else calls Date.now, setTimeout, setImmediate or
 * Math.random, so that the same code runs in real time or on a {@link VirtualClock}, where a day takes a millisecond and
 * a seed repeats a run.
 */
export interface Clock {
  /** Wall-clock milliseconds since 1970. It may jump: use it for timestamps only. */
  now(): number;
  /** Milliseconds that only grow: for deadlines, back-off and leases. */
  monotonic(): number;
  /** Calls `task` once after `ms`, never before; not at all if that is infinite. */
  after(ms: number, task: () => void, options?: TimerOptions): Timer;
  /**
   * Calls `task` in a turn of its own, as soon as possible: every request, response and watch event is one. Turns with
   * the same label keep their order, so whatever arrives in order (the events of one watch) needs a label of its own.
   */
  post(task: () => void, label?: string): void;
  readonly random: Random;
  /** For what must not be guessed. Never drawn from {@link random}. */
  readonly secrets: SecretSource;
}

/** What is known of a timer besides its time. */
export interface TimerOptions {
  /** Housekeeping that recurs forever (leases, heartbeats, resyncs): a cluster counts as idle while it waits. */
  background?: boolean;
  /** Who waits, for the message when something does not settle. */
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

/** The machine's own clock. Background timers do not keep the process alive. The seed repeats `random`, never `secrets`. */
export function realClock(seed: number = Math.floor(Math.random() * 2 ** 48)): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(ms, task, options) {
      let handle: NodeJS.Timeout;
      const wait = (left: number) => {
        handle =
          left > LONGEST_TIMEOUT ? setTimeout(wait, LONGEST_TIMEOUT, left - LONGEST_TIMEOUT) : setTimeout(task, left);
        if (options?.background) handle.unref();
      };
      wait(ms > 0 ? ms : 0);
      return { cancel: () => clearTimeout(handle) };
    },
    post: (task) => void setImmediate(task),
    random: seededRandom(seed),
    secrets: cryptographicSecrets,
  };
}
