import {
  ApiError,
  type ApiResponse,
  type Clock,
  type HeaderMap,
  readText,
  sleep,
  stringifyJson,
  type Transport,
} from "@konverge/core";
import { errorOf, isWrite, parseAnswer, warningsIn } from "./answer.ts";
import { TransportError } from "./errors.ts";
import type { CallOptions } from "./options.ts";
import type { RequestRateLimiter } from "./rate-limit.ts";
import { type RetryOptions, RetryPolicy } from "./retry.ts";

/** A request as verbs describe it. */
export interface ClientRequest {
  method: string;
  /** Path and query. */
  path: string;
  accept?: string;
  contentType?: string;
  body?: unknown;
  /** Changes nothing, though its method is one of writes: an access review. */
  changesNothing?: boolean;
  /** Requests a message stream in one of these subprotocols. */
  upgrade?: readonly string[];
}

export interface CallerOptions {
  clock: Clock;
  /** Milliseconds a call may take when it does not say. */
  timeout: number;
  userAgent: string;
  /** False: every request is sent once. */
  retry?: RetryOptions | false;
  limit?: RequestRateLimiter;
  /** Called with the warnings in the server's responses. */
  onWarning?: (message: string) => void;
}

/** A call in progress. */
interface Flight {
  signal: AbortSignal;
  deadline: number;
  /** The server may have the request, or have carried it out. */
  sent: boolean;
}

/**
 * Turns calls into requests and answers into values or typed errors.
 *
 * Guarantees: a call settles by its deadline or when its signal fires, whatever the transport does; it rejects with an
 * ApiError or a TransportError only; what is repeated is safe to repeat.
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
  async json<T>(call: ClientRequest, options: CallOptions = {}): Promise<T> {
    return parseAnswer<T>(await this.text(call, options), call);
  }

  /** The whole answer, as text. */
  text(call: ClientRequest, options: CallOptions = {}): Promise<string> {
    return this.#bounded(call, options, (flight) => this.#persist(call, flight));
  }

  /**
   * An answer of which the body is still to be read. The deadline is for its beginning, the signal holds throughout.
   * Sent once: streams have their own ways to go on.
   */
  open(call: ClientRequest, options: CallOptions = {}): Promise<ApiResponse> {
    const { signal } = options;
    return this.#bounded(call, options, (flight) => {
      if (signal) flight.signal = AbortSignal.any([flight.signal, signal]);
      return this.#send(call, flight);
    });
  }

  /** Tries until it succeeds, cannot be tried again safely, or the next try would come after the deadline. */
  async #persist(call: ClientRequest, flight: Flight): Promise<string> {
    const { clock } = this;
    const { retry } = this.#options;
    const policy = retry === false ? undefined : new RetryPolicy(clock, retry);
    for (;;) {
      try {
        const response = await this.#send(call, flight);
        return await readText(response.body);
      } catch (thrown) {
        const error = typed(thrown, call);
        const wait = policy?.waitAfter(error, call.changesNothing || !isWrite(call.method));
        if (wait === undefined || clock.monotonic() + wait >= flight.deadline) throw error;
        flight.sent = false;
        await sleep(clock, wait, { signal: flight.signal, label: `retry of ${call.method} ${call.path}` });
      }
    }
  }

  async #send(call: ClientRequest, flight: Flight): Promise<ApiResponse> {
    const { signal } = flight;
    const { limit, onWarning, userAgent } = this.#options;
    const headers: HeaderMap = { accept: call.accept ?? "application/json", "user-agent": userAgent };
    let body: string | undefined;
    if (call.body !== undefined) {
      headers["content-type"] = call.contentType ?? "application/json";
      body = stringifyJson(call.body);
    }
    if (limit) await limit.take(signal);
    flight.sent = true;
    const response = await this.#transport({
      method: call.method,
      path: call.path,
      headers,
      signal,
      ...(body !== undefined && { body }),
      ...(call.upgrade && { upgrade: call.upgrade }),
    });
    if (onWarning && response.headers.warning !== undefined) warningsIn(response.headers).forEach(onWarning);
    const expected = call.upgrade ? response.status === 101 : response.status >= 200 && response.status < 300;
    if (!expected) throw errorOf(response.status, response.headers, await readText(response.body), call);
    return response;
  }

  /** Runs `attempt` until it settles, the deadline passes or the caller aborts, whichever is first. */
  #bounded<T>(call: ClientRequest, options: CallOptions, attempt: (flight: Flight) => Promise<T>): Promise<T> {
    const { clock } = this;
    const { signal } = options;
    const now = clock.monotonic();
    const timeout = options.timeout ?? this.#options.timeout;
    const deadline = Math.min(now + timeout, options.deadline ?? Number.POSITIVE_INFINITY);
    const where = `${call.method} ${call.path}`;
    if (signal?.aborted) return Promise.reject(aborted(`${where}: aborted before it was sent`, signal, false));
    if (deadline <= now) {
      const message = `${where}: the deadline had passed before it was sent`;
      return Promise.reject(new TransportError("timeout", message, { unknownOutcome: false }));
    }
    return new Promise<T>((resolve, reject) => {
      const controller = new AbortController();
      const flight: Flight = { signal: controller.signal, deadline, sent: false };
      const outcomeIsUnknown = () => flight.sent && isWrite(call.method);
      const fail = (error: TransportError) => {
        done();
        reject(error);
        controller.abort(error);
      };
      const onAbort = () => fail(aborted(`${where}: aborted`, signal!, outcomeIsUnknown()));
      const onTimeout = () => {
        const message = `${where}: no response within ${Math.round(deadline - now)} ms`;
        fail(new TransportError("timeout", message, { unknownOutcome: outcomeIsUnknown() }));
      };
      const timer = Number.isFinite(deadline) ? clock.after(deadline - now, onTimeout, { label: where }) : undefined;
      const done = () => {
        timer?.cancel();
        signal?.removeEventListener("abort", onAbort);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      attempt(flight).then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(typed(error, call));
        },
      );
    });
  }
}

function aborted(message: string, signal: AbortSignal, outcomeIsUnknown: boolean): TransportError {
  return new TransportError("aborted", message, { cause: signal.reason, unknownOutcome: outcomeIsUnknown });
}

/** Transports throw what they like; callers see two kinds of error. */
function typed(error: unknown, { method, path }: ClientRequest): Error {
  if (error instanceof ApiError || error instanceof TransportError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new TransportError("closed", `${method} ${path}: ${why}`, { cause: error, unknownOutcome: isWrite(method) });
}
