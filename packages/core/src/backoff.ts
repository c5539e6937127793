import type { Random } from "./random.ts";

/** The delays of retries. */
export interface BackoffLimits {
  /** The first delay, in milliseconds. */
  initial: number;
  /** The maximum delay, in milliseconds. */
  longest: number;
}

/**
 * The delay after this many consecutive failures, in milliseconds. Delays double; each is drawn from the upper half of
 * its range, so that many clients that lost the same server do not come back at the same moment.
 */
export function backoffAfter(failures: number, { initial, longest }: BackoffLimits, random: Random): number {
  return Math.min(initial * 2 ** Math.min(failures, 40), longest) * (0.5 + random.next() / 2);
}
