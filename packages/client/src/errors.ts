/**
 * Why no answer came, or none that could be read:
 * - `unreachable`: no connection could be made (refused, no route, unknown host);
 * - `tls`: the connection was made, but one side did not trust the other;
 * - `closed`: the connection broke before the answer was complete;
 * - `timeout`: the call's deadline passed;
 * - `aborted`: the caller's signal fired;
 * - `malformed`: something answered that is not the Kubernetes API;
 * - `credentials`: no credentials could be had (a token file, a plugin, an identity provider failed).
 */
export type TransportErrorCode = "unreachable" | "tls" | "closed" | "timeout" | "aborted" | "malformed" | "credentials";

/**
 * A call that got no answer. With {@link ApiError} (the server answered: no) it is all that a verb rejects with, apart
 * from TypeErrors for wrong arguments.
 */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly code: TransportErrorCode;
  /**
   * The server may have carried out the request: for a write, read the object before trying again. False when the
   * request cannot have reached the server, and for reads, which change nothing.
   */
  readonly unknownOutcome: boolean;

  constructor(code: TransportErrorCode, message: string, options: ErrorOptions & { unknownOutcome: boolean }) {
    super(message, options);
    this.code = code;
    this.unknownOutcome = options.unknownOutcome;
  }
}

/** True for a write with an unknown outcome. */
export function hasUnknownOutcome(error: unknown): boolean {
  return error instanceof TransportError && error.unknownOutcome;
}
