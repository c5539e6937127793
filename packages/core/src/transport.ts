/**
 * The interface between client and server: a function from request to response. A socket, the embedded server and a
 * fault injector are all transports. It resembles `fetch`, but WHATWG Request and Response objects cost more than most
 * in-process requests (docs/decisions/002-transport-and-clock.md); {@link toFetch} returns the standard form.
 */
export type Transport = (request: ApiRequest) => Promise<ApiResponse>;

/** Header names are lower-case. */
export type HeaderMap = Record<string, string | readonly string[] | undefined>;

/** A request, as {@link Transport} carries it. */
export interface ApiRequest {
  method: string;
  /** Path and query, percent-encoded: `/api/v1/pods?limit=500`. */
  path: string;
  headers: HeaderMap;
  body?: string | Uint8Array;
  signal?: AbortSignal;
  /** The IP address of the client, of a request that came over a network. */
  remoteAddress?: string;
  /**
   * Requests a message stream (exec, attach, port-forward) in one of these WebSocket subprotocols, in order of
   * preference.
   */
  upgrade?: readonly string[];
  /** Requests an upgrade to another protocol (`SPDY/3.1`), whose bytes are sent and received as messages. */
  tunnel?: string;
}

/** An answer, as {@link Transport} carries it. */
export interface ApiResponse {
  status: number;
  headers: HeaderMap;
  /** The complete body, or a stream, which the caller must read to the end or `return()`. */
  body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /**
   * How long a client can leave a part of a stream unread, in milliseconds, before the stream is closed. Default: no
   * limit.
   */
  stallTimeout?: number;
  /** With status 101: the open message stream, or tunnel. */
  socket?: MessageSocket;
}

/** A WebSocket, from either end. */
export interface MessageSocket {
  readonly protocol: string;
  /** A returned promise resolves when the receiver is ready for more. */
  send(message: string | Uint8Array): Promise<void> | undefined;
  /** Ends when the other side closes; throws when the connection breaks. */
  readonly messages: AsyncIterable<string | Uint8Array>;
  close(code?: number, reason?: string): void;
}

const decoder = new TextDecoder();

/** A response's whole body as text. */
export async function readText(body: ApiResponse["body"]): Promise<string> {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return decoder.decode(body);
  const streaming = new TextDecoder();
  let text = "";
  for await (const chunk of body) text += typeof chunk === "string" ? chunk : streaming.decode(chunk, { stream: true });
  return text + streaming.decode();
}

/** The lines of a body, as they arrive; the last one may lack its line feed. */
export async function* readLines(body: ApiResponse["body"]): AsyncGenerator<string, void, void> {
  if (typeof body === "string" || body instanceof Uint8Array) {
    for (const line of (await readText(body)).split("\n")) if (line !== "") yield line;
    return;
  }
  const streaming = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const text = typeof chunk === "string" ? chunk : streaming.decode(chunk, { stream: true });
    let start = 0;
    // Only the new text is searched: a line of many megabytes arrives in many chunks.
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      const line = rest + text.slice(start, end);
      rest = "";
      start = end + 1;
      if (line !== "") yield line;
    }
    rest += text.slice(start);
  }
  rest += streaming.decode();
  if (rest !== "") yield rest;
}

/** A header's first value. */
export function headerOf(headers: HeaderMap, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" || value === undefined ? value : value[0];
}

/** All values of a header. */
export function headerValues(headers: HeaderMap, name: string): readonly string[] {
  const value = headers[name];
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

/** Statuses with which a standard Response must not have a body, not even an empty one. */
const BODILESS = new Set([204, 205, 304]);

/** A transport as a standard `fetch`. */
export function toFetch(transport: Transport): (input: Request | string, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
    const response = await transport({
      method: request.method,
      path: url.pathname + url.search,
      headers: Object.fromEntries(request.headers),
      ...(body && { body }),
      signal: request.signal,
    });
    const headers = new Headers();
    for (const name of Object.keys(response.headers)) {
      for (const value of headerValues(response.headers, name)) headers.append(name, value);
    }
    const { status } = response;
    return new Response(BODILESS.has(status) ? null : asStandardBody(response.body), { status, headers });
  };
}

function asStandardBody(body: ApiResponse["body"]): string | Uint8Array<ArrayBuffer> | ReadableStream {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  const chunks = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
