import { TransportError, type TransportErrorCode } from "../errors.ts";

/** How far a request had come when it failed. */
export interface Progress {
  /** It may have left for the server. */
  sent: boolean;
  /** It would change something. */
  write: boolean;
}

/** What a socket's error means to the caller. */
export function classifyError(error: unknown, what: string, { sent, write }: Progress): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  const kind = kindOf(code, sent);
  const why = error instanceof Error && error.message ? error.message : code || String(error);
  return new TransportError(kind, `${what}: ${why}`, { cause: error, unknownOutcome: sent && write && kind !== "tls" });
}

function kindOf(code: string, sent: boolean): TransportErrorCode {
  if (isTlsProblem(code)) return "tls";
  return sent ? "closed" : "unreachable";
}

function codeOf(error: unknown): string {
  const { code, errors, cause } = (error ?? {}) as { code?: unknown; errors?: unknown[]; cause?: unknown };
  if (typeof code === "string") return code;
  // Several addresses were tried, each in vain.
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  return cause ? codeOf(cause) : "";
}

function isTlsProblem(code: string): boolean {
  return code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_") || code.startsWith("CERT_") || OPENSSL.has(code);
}

/** The names OpenSSL gives to certificates it does not believe. */
const OPENSSL = new Set([
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
]);
