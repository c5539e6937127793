/**
 * What a reconciler throws to decide what happens next. Any other error is transient: retried with exponential backoff.
 */

/** A retry does not help until the object changes: reported in the conditions, not retried. */
export class PermanentError extends Error {
  override readonly name = "PermanentError";
  /** One word in CamelCase: the reason of the condition. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** An external system is not ready: reported in the conditions, reconciled again after `requeueAfter` milliseconds (default: 30 s). */
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
