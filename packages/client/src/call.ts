import {
  ApiError,
  type ApiResponse,
  type Clock,
  type HeaderMap,
  headerOf,
  parseJson,
  readText,
  type StatusObject,
  stringifyJson,
  type Transport,
} from "@konverge/core";
import { TransportError } from "./errors.ts";
import type { CallOptions } from "./options.ts";

/** A request as verbs describe it. */
export interface Call {
  method: string;
  /** Path and query. */
  path: string;
  accept?: string;
  contentType?: string;
  body?: unknown;
  upgrade?: readonly string[];
}

export interface CallerOptions {
  clock: Clock;
  /** Milliseconds a call may take when it does not say. */
  timeout: number;
  userAgent: string;
  /** Told the warnings that the server sends along with an answer. */
  onWarning?: (message: string) => void;
}

/**
 * Turns calls into requests and answers into values or typed errors.
 *
 * Guarantees: a call settles by its deadline or when its signal fires, whatever the transport does; it rejects with an
 * ApiError or a TransportError only.
 */
export class Caller {
  readonly clock: Clock;
  readonly #transport: Transport;
  readonly #options: CallerOptions;

  constructor(transport: Transport, options: CallerOptions) {
    this.clock = options.clock;
    this.#transport = transport;
    this.#options = options;
  }

  /** The whole answer, parsed. */
  async json<T>(call: Call, options: CallOptions = {}): Promise<T> {
    return parseBody<T>(await this.text(call, options), call);
  }

  /** The whole answer, as text. */
  text(call: Call, options: CallOptions = {}): Promise<string> {
    return this.#bounded(call, options, async (signal) => {
      const response = await this.#send(call, signal);
      return await readText(response.body);
    });
  }

  /** An answer of which the body is still to be read. The deadline is for its beginning; the signal holds throughout. */
  open(call: Call, options: CallOptions = {}): Promise<ApiResponse> {
    const { signal } = options;
    return this.#bounded(call, options, (bounded) => {
      return this.#send(call, signal ? AbortSignal.any([bounded, signal]) : bounded);
    });
  }

  async #send(call: Call, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const headers: HeaderMap = { accept: call.accept ?? "application/json", "user-agent": this.#options.userAgent };
    let body: string | undefined;
    if (call.body !== undefined) {
      headers["content-type"] = call.contentType ?? "application/json";
      body = stringifyJson(call.body);
    }
    const response = await this.#transport({
      method: call.method,
      path: call.path,
      headers,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
      ...(call.upgrade && { upgrade: call.upgrade }),
    });
    this.#reportWarnings(response.headers);
    if (response.status >= 400 || (response.status !== 101 && response.status < 200)) {
      throw errorOf(response.status, response.headers, await readText(response.body), call);
    }
    return response;
  }

  /** Runs `attempt` until it settles, the deadline passes or the caller aborts, whichever is first. */
  #bounded<T>(call: Call, options: CallOptions, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this;
    const { signal } = options;
    const timeout = Math.min(
      options.timeout ?? this.#options.timeout,
      (options.deadline ?? Number.POSITIVE_INFINITY) - clock.monotonic(),
    );
    const write = isWrite(call.method);
    const where = `${call.method} ${call.path}`;
    if (signal?.aborted) {
      const cause = signal.reason;
      return Promise.reject(
        new TransportError("aborted", `${where}: aborted before it was sent`, { cause, inDoubt: false }),
      );
    }
    if (timeout <= 0) {
      return Promise.reject(
        new TransportError("timeout", `${where}: the deadline has passed before it was sent`, { inDoubt: false }),
      );
    }
    return new Promise<T>((resolve, reject) => {
      const controller = new AbortController();
      const fail = (error: TransportError) => {
        done();
        reject(error);
        controller.abort(error);
      };
      const onAbort = () =>
        fail(new TransportError("aborted", `${where}: aborted`, { cause: signal!.reason, inDoubt: write }));
      const onTimeout = () =>
        fail(new TransportError("timeout", `${where}: no answer within ${Math.round(timeout)} ms`, { inDoubt: write }));
      const timer =
        timeout === Number.POSITIVE_INFINITY ? undefined : clock.after(timeout, onTimeout, { label: where });
      const done = () => {
        timer?.cancel();
        signal?.removeEventListener("abort", onAbort);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      attempt(controller.signal).then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(typed(error, where, write));
        },
      );
    });
  }

  #reportWarnings(headers: HeaderMap): void {
    const { onWarning } = this.#options;
    if (!onWarning || headers.warning === undefined) return;
    const values = typeof headers.warning === "string" ? [headers.warning] : headers.warning;
    for (const value of values) {
      for (const match of value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) onWarning(match[1]!.replace(/\\(.)/g, "$1"));
    }
  }
}

export function isWrite(method: string): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Transports throw what they like; callers see two kinds of error. */
function typed(error: unknown, where: string, write: boolean): unknown {
  if (error instanceof ApiError || error instanceof TransportError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new TransportError("closed", `${where}: ${why}`, { cause: error, inDoubt: write });
}

function parseBody<T>(text: string, call: Call): T {
  try {
    return parseJson(text) as T;
  } catch (cause) {
    const start = text.slice(0, 120);
    throw new TransportError("malformed", `${call.method} ${call.path}: the answer is not JSON: ${start}`, {
      cause,
      inDoubt: isWrite(call.method),
    });
  }
}

/** The error that an answer stands for: the server's own Status where there is one. */
export function errorOf(code: number, headers: HeaderMap, text: string, call: Call): ApiError {
  const header = Number(headerOf(headers, "retry-after"));
  const retryAfterSeconds = Number.isFinite(header) && header > 0 ? header : undefined;
  const status = statusIn(text);
  if (status) {
    const details = status.details?.retryAfterSeconds
      ? status.details
      : { ...status.details, ...(retryAfterSeconds && { retryAfterSeconds }) };
    return new ApiError({ ...status, code, ...(Object.keys(details).length > 0 && { details }) });
  }
  const message = text.trim().slice(0, 500) || `${call.method} ${call.path}: HTTP status ${code}`;
  return new ApiError({
    code,
    reason: REASONS[code] ?? (code >= 500 ? "InternalError" : "Unknown"),
    message,
    ...(retryAfterSeconds && { details: { retryAfterSeconds } }),
  });
}

function statusIn(text: string): StatusObject | undefined {
  try {
    const value = parseJson(text) as StatusObject | null;
    return value?.kind === "Status" ? value : undefined;
  } catch {
    return undefined;
  }
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
