import { ApiError, type ApiRequest, headerOf } from "@konverge/core";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The longest body that is read. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** A request's body as text; throws 413 when it is too long. */
export function bodyText(request: ApiRequest): string {
  checkSize(request);
  return typeof request.body === "string" ? request.body : request.body ? decoder.decode(request.body) : "";
}

/** A request's body as bytes; throws 413 when it is too long. */
export function bodyBytes(request: ApiRequest): Uint8Array {
  checkSize(request);
  return typeof request.body === "string" ? encoder.encode(request.body) : (request.body ?? new Uint8Array());
}

function checkSize({ body }: ApiRequest): void {
  if (body === undefined || body.length * 3 <= MAX_BODY_BYTES) return;
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  if (length > MAX_BODY_BYTES) throw tooLarge(`limit is ${MAX_BODY_BYTES}`);
}

export function tooLarge(why: string): ApiError {
  return new ApiError({
    code: 413,
    reason: "RequestEntityTooLarge",
    message: `Request entity too large: ${why}`,
  });
}

/** The media type of a request's body, without parameters. */
export function contentType(request: ApiRequest): string {
  return (headerOf(request.headers, "content-type") ?? "").split(";")[0]!.trim().toLowerCase();
}

/** The response to a body of an unsupported media type. */
export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}
