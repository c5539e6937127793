/**
 * Why there was no response, or none that could be read:
 * - `unreachable`: the connection failed (refused, no route, unknown host);
 * - `tls`: one side did not trust the other's certificate;
 * - `closed`: the connection broke before the response was complete;
 * - `timeout`: the call's deadline passed;
 * - `aborted`: the caller's signal fired;
 * - `malformed`: the response is not from a Kubernetes API;
 * - `credentials`: no credentials are available (a token file, a plugin or an identity provider failed).
 */
export type TransportErrorCode = "unreachable" | "tls" | "closed" | "timeout" | "aborted" | "malformed" | "credentials";

/**
 * A call without a response. A verb rejects with this error, with an {@link ApiError} (the server returned an error),
 * or with a TypeError for invalid arguments.
 */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly code: TransportErrorCode;
  /**
   * True if a write may have taken effect: read the object before you retry. False if the request cannot have reached
   * the server, and for reads.
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
