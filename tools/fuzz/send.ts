import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { FuzzRequest } from "./requests.ts";

/** Where the server is, and as whom requests come. */
export interface Endpoint {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  /** Without them, requests are anonymous. */
  readonly cert?: string;
  readonly key?: string;
}

export interface Answer {
  /** 0: the server closed the connection, or reset the stream, without one. */
  readonly status: number;
  /** The beginning of the body. */
  readonly text: string;
  /** Until its head came; until its end, unless it is a stream. */
  readonly ms: number;
  readonly bytes: number;
}

/** How long a stream, and an answer that never comes, is waited for. */
const STREAM_MS = 100;
const LONGEST_MS = 60_000;
const KEPT_TEXT = 16_000;
/** More than the server takes, or it would never hear of it. */
const LARGEST_HEAD = 4 * 1024 * 1024;
/** In megabytes. Beyond it, Node's client resets its own streams: every later request on the connection would go unheard. */
const CLIENT_MEMORY = 1000;

/** Whether a response does not end: only what arrives within a moment is read. */
export const isStream = ({ target }: FuzzRequest): boolean => /[?&](watch|follow)=|\/watch\//.test(target);

/** Opens a connection to the server. */
export function openTls(endpoint: Endpoint, protocol: "http/1.1" | "h2"): Promise<TLSSocket> {
  const { host, port, ca, cert, key } = endpoint;
  return new Promise((resolve, reject) => {
    const credential = cert && key ? { cert, key } : {};
    const socket = connectTls({ host, port, ca, ...credential, ALPNProtocols: [protocol], servername: "localhost" });
    socket.once("secureConnect", () => resolve(socket));
    socket.on("error", reject);
  });
}

/** Sends requests: those of HTTP/2 through one connection, those of HTTP/1.1 each through its own, as the bytes that they are. */
export class Sender {
  readonly #endpoint: Endpoint;
  #session: ClientHttp2Session | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  send(request: FuzzRequest): Promise<Answer> {
    return request.protocol === "h2" && isSendable(request) ? this.#overHttp2(request) : this.#overHttp1(request);
  }

  close(): void {
    this.#session?.destroy();
  }

  async #overHttp1(request: FuzzRequest): Promise<Answer> {
    const socket = await openTls(this.#endpoint, "http/1.1");
    const began = performance.now();
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let [bytes, head, stopped] = [0, 0, false];
      const finish = () => {
        if (stopped) return;
        stopped = true;
        clearTimeout(limit);
        const text = Buffer.concat(chunks).toString("latin1");
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
        const ms = (isStream(request) && head > 0 ? head : performance.now()) - began;
        resolve({ status, text: text.slice(text.indexOf("\r\n\r\n") + 4), ms, bytes });
        socket.destroy();
      };
      const limit = setTimeout(finish, request.framing === "too long" ? STREAM_MS : LONGEST_MS);
      socket.on("data", (chunk: Buffer) => {
        if (head === 0) {
          head = performance.now();
          if (isStream(request)) setTimeout(finish, STREAM_MS);
        }
        if (bytes < KEPT_TEXT) chunks.push(chunk.subarray(0, KEPT_TEXT));
        bytes += chunk.length;
      });
      socket.on("error", finish).on("close", finish);
      socket.write(http1Bytes(request, this.#endpoint));
    });
  }

  #overHttp2(request: FuzzRequest): Promise<Answer> {
    const session = this.#http2();
    const began = performance.now();
    return new Promise((resolve) => {
      const headers = { ":method": request.method, ":path": request.target, ...http2Headers(request) };
      const stream = session.request(headers, { endStream: request.body.length === 0 });
      const chunks: Buffer[] = [];
      let [bytes, head, status, stopped] = [0, 0, 0, false];
      const finish = () => {
        if (stopped) return;
        stopped = true;
        clearTimeout(limit);
        const ms = (isStream(request) && head > 0 ? head : performance.now()) - began;
        resolve({ status, text: Buffer.concat(chunks).toString("latin1"), ms, bytes });
        stream.destroy();
      };
      const limit = setTimeout(finish, LONGEST_MS);
      stream.on("response", (headers) => {
        status = Number(headers[":status"]);
        head = performance.now();
        if (isStream(request)) setTimeout(finish, STREAM_MS);
      });
      stream.on("data", (chunk: Buffer) => {
        if (bytes < KEPT_TEXT) chunks.push(chunk.subarray(0, KEPT_TEXT));
        bytes += chunk.length;
      });
      stream.on("error", finish).on("close", finish).on("end", finish);
      // Cut before its end, the request never comes to be: the server must do without.
      if (request.framing === "too long") setTimeout(() => stream.close(), STREAM_MS);
      else if (request.body.length > 0) stream.end(request.body);
    });
  }

  #http2(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const { url, ca, cert, key } = this.#endpoint;
    const limits = { maxSessionMemory: CLIENT_MEMORY, maxSendHeaderBlockLength: LARGEST_HEAD };
    const session = connectHttp2(url, { ca, ...(cert && key && { cert, key }), ...limits });
    session.on("error", () => {});
    session.setMaxListeners(0);
    this.#session = session;
    return session;
  }
}

/** The client of HTTP/2 refuses to send some of it. */
function isSendable({ target, headers, method }: FuzzRequest): boolean {
  const isAlone = new Set(headers.map(([name]) => name)).size === headers.length || REPEATABLE.has(headers.at(-1)![0]);
  return target.startsWith("/") && /^[\x21-\x7e]*$/.test(target) && isAlone && method !== "CONNECT";
}

/** Headers that Node's client sends more than once. */
const REPEATABLE: ReadonlySet<string> = new Set([
  ...["x", "cookie", "accept", "impersonate-group", "x-forwarded-for", "x-real-ip", "warning"],
]);

function http2Headers({ headers }: FuzzRequest): Record<string, string | string[]> {
  const values = Map.groupBy(headers, ([name]) => name);
  return Object.fromEntries(
    Array.from(values, ([name, pairs]) => [name, pairs.length === 1 ? pairs[0]![1] : pairs.map(([, value]) => value)]),
  );
}

/** The request as it stands on the wire. */
export function http1Bytes({ method, target, headers, body, framing }: FuzzRequest, { host, port }: Endpoint): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${host}:${port}`, "connection: close"];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (framing === "chunked") lines.push("transfer-encoding: chunked");
  else if (body.length > 0) {
    const length =
      body.length + (framing === "too long" ? 10 : framing === "too short" ? -Math.min(10, body.length) : 0);
    lines.push(`content-length: ${length}`);
  }
  const sent =
    framing === "chunked"
      ? Buffer.concat([
          Buffer.from(body.length > 0 ? `${body.length.toString(16)}\r\n` : ""),
          body,
          Buffer.from(`${body.length > 0 ? "\r\n" : ""}0\r\n\r\n`),
        ])
      : body;
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), sent]);
}
