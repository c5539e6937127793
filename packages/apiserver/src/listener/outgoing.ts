import { once } from "node:events";
import { constants, type Http2Stream } from "node:http2";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type ApiResponse, type Clock, type HeaderMap, headerOf, headerValues } from "@konverge/core";

/** An answer of either protocol: what is used of node:http's and node:http2's response objects. */
export interface Outgoing extends Writable {
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
  flushHeaders?(): void;
  /** HTTP/2 alone. */
  readonly stream?: Http2Stream;
}

/** As a real API server: smaller answers are not worth it, and the fastest level is the best for a network this close. */
const COMPRESS_FROM = 128 * 1024;
const compress = promisify(gzip);

/** What the request says about the form of its answer. */
export interface SendOptions {
  /** The method was HEAD: headers alone. */
  readonly withoutBody: boolean;
  /** The request's Accept-Encoding names gzip. */
  readonly acceptsGzip: boolean;
  /** The server is closing: let the client not use this connection again. */
  readonly last: boolean;
  readonly clock: Clock;
}

/** How long a client may take for a part of a whole answer: as long as a real API server gives a request in all. */
const ANSWER_PATIENCE = 60_000;

/**
 * Sends an answer. A stream is pulled as fast as the client takes it and no faster: what is not yet taken stays with the code that
 * makes the stream. It is released when the client disconnects. An answer that is not taken at all is cut in the end: throws.
 */
export async function send(outgoing: Outgoing, response: ApiResponse, options: SendOptions): Promise<void> {
  const headers = outgoingHeaders(response.headers);
  // HTTP/2 has no such header: sessions get a GOAWAY frame instead.
  if (options.last && !outgoing.stream) headers["connection"] = "close";
  const { body } = response;
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    outgoing.writeHead(response.status, headers);
    if (options.withoutBody) await body[Symbol.asyncIterator]().return?.();
    else await sendStream(new Pieces(outgoing, options.clock, response.stallTimeout), body);
    outgoing.end();
    return;
  }
  // A text stays one: as bytes, each answer that is not taken yet would have its own copy of a document that all have.
  let content = body;
  let length = Buffer.byteLength(body);
  if (length > COMPRESS_FROM && options.acceptsGzip && !headerOf(response.headers, "content-encoding")) {
    content = await compress(body, { level: 1 });
    length = content.length;
    headers["content-encoding"] = "gzip";
    headers["vary"] = [...headerValues(response.headers, "vary"), "Accept-Encoding"];
  }
  // 204 and 304 have no body, and say so by having no length.
  if (response.status !== 204 && response.status !== 304) headers["content-length"] = String(length);
  outgoing.writeHead(response.status, headers);
  if (options.withoutBody || length <= PIECE) outgoing.end(options.withoutBody ? undefined : content);
  else {
    await new Pieces(outgoing, options.clock, ANSWER_PATIENCE).write(content);
    outgoing.end();
  }
}

/** Whether the client has disconnected. */
export function isAbandoned({ stream, destroyed }: Outgoing): boolean {
  return stream ? stream.destroyed || stream.closed : destroyed;
}

/** Ends an answer that cannot be completed: half of one must not look like a whole one. */
export function breakOff(outgoing: Outgoing): void {
  if (outgoing.stream) outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else outgoing.destroy();
}

/** Whether a client takes gzip. */
export function acceptsGzip(headers: HeaderMap): boolean {
  return headerValues(headers, "accept-encoding").some((value) =>
    value.split(",").some((part) => {
      const [encoding, ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      return encoding === "gzip" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    }),
  );
}

/**
 * How much is written at once. Chunks of a stream that are ready at the same time go out together: a thousand events are not a
 * thousand packets. Larger ones go out in pieces: what a client has not taken yet counts against its connection, which many
 * streams share, while the rest of a text is shared with all who are to have it.
 */
const PIECE = 32 * 1024;

/** Thrown by a handler, or by the stream of a response: the client gets no response, or no more of it, and no reason. */
export class ConnectionReset extends Error {
  override readonly name = "ConnectionReset";
}

/** A client did not take its answer. */
export class StalledClient extends Error {
  override readonly name = "StalledClient";
}

/** Writes pieces as a client takes them. */
class Pieces {
  readonly outgoing: Outgoing;
  readonly #clock: Clock;
  readonly #stallTimeout: number | undefined;

  constructor(outgoing: Outgoing, clock: Clock, stallTimeout: number | undefined) {
    this.outgoing = outgoing;
    this.#clock = clock;
    this.#stallTimeout = stallTimeout;
  }

  /** Resolves when all is written but the last piece, or the client has disconnected. */
  async write(content: string | Uint8Array): Promise<void> {
    for (let start = 0, end = 0; start < content.length; start = end) {
      if (!(await this.room())) return;
      end = start + PIECE;
      if (typeof content === "string") {
        // Half a character is none.
        if (isHighSurrogate(content.charCodeAt(end - 1))) end--;
        this.outgoing.write(content.slice(start, end));
      } else this.outgoing.write(content.subarray(start, end));
    }
  }

  /** Resolves when there is room for more; false when the client has disconnected. Throws when it has not taken anything for too long. */
  async room(): Promise<boolean> {
    if (this.outgoing.writableNeedDrain && !isAbandoned(this.outgoing)) await this.#drained();
    return !isAbandoned(this.outgoing);
  }

  async #drained(): Promise<void> {
    const done = new AbortController();
    const { signal } = done;
    const late = Promise.withResolvers<never>();
    const timer =
      this.#stallTimeout === undefined
        ? undefined
        : this.#clock.after(this.#stallTimeout, () => late.reject(new StalledClient()));
    try {
      // An error means that the connection broke: the caller learns that the client has disconnected.
      const taken = [once(this.outgoing, "drain", { signal }), once(this.outgoing, "close", { signal })];
      await Promise.race([...taken.map((event) => event.catch(() => {})), late.promise]);
    } finally {
      timer?.cancel();
      done.abort();
    }
  }
}

async function sendStream(pieces: Pieces, chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
  const { outgoing } = pieces;
  // A watch may be silent for long: its client wants to know at once that it has begun.
  outgoing.flushHeaders?.();
  let ready: (string | Uint8Array)[] = [];
  let size = 0;
  const takeReady = () => {
    const content = joined(ready);
    ready = [];
    size = 0;
    return content;
  };
  // Runs when all promises that are ready have run: when the source of the stream has to wait.
  const flush = () => {
    if (ready.length === 0 || size >= PIECE || outgoing.writableNeedDrain || isAbandoned(outgoing)) return;
    outgoing.write(takeReady());
  };
  for await (const chunk of chunks) {
    if (chunk.length >= PIECE) {
      if (ready.length > 0) await pieces.write(takeReady());
      await pieces.write(chunk);
      if (isAbandoned(outgoing)) return;
      continue;
    }
    ready.push(chunk);
    size += chunk.length;
    if (outgoing.writableNeedDrain && !(await pieces.room())) return;
    if (isAbandoned(outgoing)) return;
    if (size >= PIECE) await pieces.write(takeReady());
    else if (ready.length === 1) process.nextTick(flush);
  }
  if ((await pieces.room()) && ready.length > 0) await pieces.write(takeReady());
}

function joined(chunks: readonly (string | Uint8Array)[]): string | Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  if (chunks.every((chunk) => typeof chunk === "string")) return chunks.join("");
  return Buffer.concat(chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)));
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Headers are bytes, and those beyond ASCII are UTF-8; Node takes each character for a byte. */
function headerBytes(value: string): string {
  return /[\u0080-\uffff]/.test(value) ? Buffer.from(value).toString("latin1") : value;
}

function outgoingHeaders(headers: HeaderMap): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = {};
  for (const name of Object.keys(headers)) {
    const values = headerValues(headers, name);
    if (values.length > 0) result[name] = values.length === 1 ? headerBytes(values[0]!) : values.map(headerBytes);
  }
  return result;
}
