import type { ObjectKey } from "@konverge/core";

/** The right to act on a key, for a time. It can end early: then `signal` fires and `check` throws. */
export interface Permit {
  readonly signal: AbortSignal | undefined;
  /** Fires when the right is about to be handed over, which waits for the work: what would go on for long ends now. */
  readonly leaving: AbortSignal | undefined;
  /** Since when it has held without a break, on the monotonic clock. */
  readonly since: number;
  /** No request may be in progress after this time of the monotonic clock. It advances while the lease is renewed. */
  readonly deadline: number;
  /** Throws a LostAuthorityError if a request must not be sent any more. */
  check(): void;
  /** The work that it was taken for is over. */
  end(): void;
}

/** Says who may act on a key: always this process, or the holder of a lease. */
export interface Authority {
  /** Whether the key is ours now. */
  allows(key: ObjectKey): boolean;
  /** The right to act on the key, to be ended afterwards. Undefined: not we, not now. */
  begin(key: ObjectKey): Permit | undefined;
  /** Calls back whenever keys may have become ours. */
  onGain(listener: () => void): void;
}

/** The permit to act was lost, or is about to expire: another replica may be acting. */
export class LostAuthorityError extends Error {
  override readonly name = "LostAuthorityError";
}

const FOREVER: Permit = {
  signal: undefined,
  leaving: undefined,
  since: Number.NEGATIVE_INFINITY,
  deadline: Number.POSITIVE_INFINITY,
  check() {},
  end() {},
};

/** There is no other replica. */
export const sole: Authority = { allows: () => true, begin: () => FOREVER, onGain() {} };
