/**
 * What a reconciler throws to say what should happen next. Anything else that it throws counts as transient: it is tried
 * again, after ever longer waits.
 */

/** Trying again will not help until somebody changes the object: reported in its conditions, not retried. */
export class PermanentError extends Error {
  override readonly name = "PermanentError";
  /** One word in CamelCase, for the condition. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Something outside is not there yet: reported in its conditions, tried again after `after` milliseconds. */
export class ExternalError extends Error {
  override readonly name = "ExternalError";
  readonly reason: string;
  readonly requeueAfter: number;

  constructor(reason: string, message: string, options: ErrorOptions & { requeueAfter?: number } = {}) {
    super(message, options);
    this.reason = reason;
    this.requeueAfter = options.requeueAfter ?? 30_000;
  }
}
