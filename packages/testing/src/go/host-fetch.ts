import type { ApiResponse, HeaderMap, Transport } from "@konverge/core";
import { headerValues } from "@konverge/core";
import { EventualValue } from "./eventual-value.ts";

/** The options that Go's `net/http` passes to `fetch`. */
export interface FetchOptions {
  readonly method?: string;
  readonly headers?: FetchHeaders;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

/** The part of the standard class that Go uses. */
export class FetchHeaders {
  readonly #values: [string, string][] = [];

  append(name: string, value: string): void {
    this.#values.push([name, value]);
  }

  entries(): IterableIterator<[string, string]> {
    return this.#values[Symbol.iterator]();
  }

  /** As a transport has them; what is given several times is a list. */
  map(): HeaderMap {
    const map: Record<string, string | readonly string[]> = {};
    for (const [name, value] of this.#values) {
      const key = name.toLowerCase();
      const known = map[key];
      map[key] = known === undefined ? value : [...(typeof known === "string" ? [known] : known), value];
    }
    return map;
  }

  copy(): FetchHeaders {
    const copy = new FetchHeaders();
    copy.#values.push(...this.#values);
    return copy;
  }
}

/** A request that a process has made and that is still to be sent. */
export interface StartedFetch {
  readonly url: string;
  readonly options: FetchOptions;
  readonly response: EventualValue;
}

/** Sends a request; what a host has no transport for cannot be reached. */
export function sendFetch({ url, options, response }: StartedFetch, transport: Transport | undefined): void {
  const { method = "GET", headers, body, signal } = options;
  const { host, pathname, search } = new URL(url);
  if (!transport) {
    // In the words of Go's own resolver, which programs print.
    response.reject(new TypeError(`dial tcp: lookup ${host}: no such host`));
    return;
  }
  signal?.addEventListener("abort", () => response.reject(new Error("context canceled")), { once: true });
  const request = {
    method,
    path: pathname + search,
    headers: { host, ...headers?.map() },
    ...(body && { body: new Uint8Array(body) }),
    ...(signal && { signal }),
  };
  transport(request).then(
    (answer) => response.resolve(fetchResponse(url, answer)),
    (error: unknown) => response.reject(asNetworkError(error)),
  );
}

/** In the words of Go's net package, by which client-go recognizes what can be tried again. */
function asNetworkError(error: unknown): Error {
  const { code, message } = error as { code?: string; message?: string };
  if (code === "ECONNRESET") return new Error("read tcp: connection reset by peer");
  if (code === "ECONNREFUSED") return new Error("dial tcp: connection refused");
  return new Error(message ?? String(error));
}

function fetchResponse(url: string, { status, headers, body }: ApiResponse): object {
  const own = new FetchHeaders();
  for (const name of Object.keys(headers)) {
    for (const value of headerValues(headers, name)) own.append(name, value);
  }
  return { status, url, redirected: false, headers: own, body: { getReader: () => new BodyReader(body) } };
}

const encoder = new TextEncoder();
const asBytes = (chunk: string | Uint8Array) => (typeof chunk === "string" ? encoder.encode(chunk) : chunk);

/** Reads a body, chunk by chunk. */
class BodyReader {
  readonly #chunks: Iterator<string | Uint8Array> | AsyncIterator<string | Uint8Array>;

  constructor(body: ApiResponse["body"]) {
    if (typeof body === "string" || body instanceof Uint8Array) {
      this.#chunks = (body.length > 0 ? [body] : [])[Symbol.iterator]();
    } else {
      this.#chunks = body[Symbol.asyncIterator]();
    }
  }

  read(): EventualValue {
    const chunk = new EventualValue();
    const arrived = ({ done, value }: IteratorResult<string | Uint8Array>) =>
      chunk.resolve(done ? { done: true } : { done: false, value: asBytes(value) });
    const next = this.#chunks.next();
    if (next instanceof Promise) next.then(arrived, (error: unknown) => chunk.reject(asNetworkError(error)));
    else arrived(next as IteratorResult<string | Uint8Array>);
    return chunk;
  }

  cancel(): void {
    const ended = this.#chunks.return?.();
    // A watch may wait for an event that never comes: nothing waits for its end.
    if (ended instanceof Promise) ended.catch(() => {});
  }
}
