import type { ApiResponse } from "@konverge/core";

const REASONS: Readonly<Record<number, string>> = {
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
};

function status(code: number, message: string): string {
  const reason = REASONS[code];
  return JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, message, code });
}

/** A response with which an API server rejects a request. */
export function failureResponse(
  code: 403 | 404 | 409 | 422 | 429 | 500,
  message = `a fault of the test: ${REASONS[code]}`,
): ApiResponse {
  const headers = { "content-type": "application/json", ...(code === 429 && { "retry-after": "2" }) };
  return { status: code, headers, body: status(code, message) };
}

/** What an API server answers if a webhook with the failure policy Fail cannot be reached. */
export function webhookFailure(): ApiResponse {
  return failureResponse(
    500,
    'Internal error occurred: failed calling webhook "validate.example.com": failed to call webhook: connect: connection refused',
  );
}

/** What an API server answers if a quota does not permit another object, or an admission webhook not this one. */
export function refusal(by: "quota" | "webhook", what: string): ApiResponse {
  if (by === "quota") return failureResponse(403, `${what} is forbidden: exceeded quota: fault-of-the-test`);
  return failureResponse(422, 'admission webhook "policy.example.com" denied the request: a fault of the test');
}

/** The error of a connection that was closed by the other side. */
export function cutConnection(): Error {
  return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
}

/** A line of a watch that reports 410 Gone. */
export function expiredEvent(): string {
  const object: unknown = JSON.parse(status(410, "too old resource version: a fault of the test"));
  return `${JSON.stringify({ type: "ERROR", object })}\n`;
}
