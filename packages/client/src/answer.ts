import { ApiError, type HeaderMap, headerOf, headerValues, parseJson, type StatusObject } from "@konverge/core";
import { TransportError } from "./errors.ts";

/** What was asked, for messages: `GET /api/v1/pods`. */
export interface Question {
  method: string;
  path: string;
}

export function isWrite(method: string): boolean {
  return method !== "GET" && method !== "HEAD";
}

export function parseAnswer<T>(text: string, { method, path }: Question): T {
  try {
    return parseJson(text) as T;
  } catch (cause) {
    const message = `${method} ${path}: the response is not JSON: ${text.slice(0, 120)}`;
    throw new TransportError("malformed", message, { cause, unknownOutcome: isWrite(method) });
  }
}

/** The error that an answer stands for: the server's own Status where there is one. */
export function errorOf(code: number, headers: HeaderMap, text: string, { method, path }: Question): ApiError {
  const seconds = Number(headerOf(headers, "retry-after"));
  const retryAfter = seconds > 0 ? { retryAfterSeconds: seconds } : undefined;
  const status = statusIn(text);
  if (!status) {
    const message = text.trim().slice(0, 500) || `${method} ${path}: HTTP status ${code}`;
    return new ApiError({ code, reason: reasonOf(code), message, ...(retryAfter && { details: retryAfter }) });
  }
  const details = { ...retryAfter, ...status.details };
  return new ApiError({ ...status, code, ...(Object.keys(details).length > 0 && { details }) });
}

function statusIn(text: string): StatusObject | undefined {
  try {
    const value = parseJson(text) as StatusObject | null;
    return value?.kind === "Status" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The warnings in an answer's headers (RFC 7234: `299 - "text"`). */
export function warningsIn(headers: HeaderMap): string[] {
  return headerValues(headers, "warning").flatMap((value) =>
    [...value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]!.replace(/\\(.)/g, "$1")),
  );
}

function reasonOf(code: number): string {
  return REASONS[code] ?? (code >= 500 ? "InternalError" : "Unknown");
}

const REASONS: Record<number, string> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  503: "ServiceUnavailable",
  504: "Timeout",
};
