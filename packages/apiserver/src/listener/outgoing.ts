import { once } from "node:events";
import { constants, type Http2Stream } from "node:http2";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type ApiResponse, type HeaderMap, headerOf, headerValues } from "@konverge/core";

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
}

/**
 * Sends an answer. A stream is pulled as fast as the client takes it and no faster: what is not yet taken stays with whoever
 * makes the stream. It is let go of when the client is gone.
 */
export async function send(outgoing: Outgoing, response: ApiResponse, options: SendOptions): Promise<void> {
  const headers = outgoingHeaders(response.headers);
  // HTTP/2 has no such header: sessions are told to go away instead.
  if (options.last && !outgoing.stream) headers["connection"] = "close";
  const { body } = response;
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    outgoing.writeHead(response.status, headers);
    if (options.withoutBody) await body[Symbol.asyncIterator]().return?.();
    else await sendStream(outgoing, body);
    outgoing.end();
    return;
  }
  let bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.length > COMPRESS_FROM && options.acceptsGzip && !headerOf(response.headers, "content-encoding")) {
    bytes = await compress(bytes, { level: 1 });
    headers["content-encoding"] = "gzip";
    headers["vary"] = [...headerValues(response.headers, "vary"), "Accept-Encoding"];
  }
  // 204 and 304 have no body, and say so by having no length.
  if (response.status !== 204 && response.status !== 304) headers["content-length"] = String(bytes.length);
  outgoing.writeHead(response.status, headers);
  outgoing.end(options.withoutBody ? undefined : bytes);
}

/** Whether nobody is there any more to take the answer. */
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

/** Chunks that are ready at the same time go out as one write of about this size: a thousand events are not a thousand packets. */
const WRITE_SIZE = 64 * 1024;

async function sendStream(outgoing: Outgoing, chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
  // A watch may be silent for long: its client wants to know at once that it has begun.
  outgoing.flushHeaders?.();
  let ready: (string | Uint8Array)[] = [];
  let size = 0;
  const flush = () => {
    if (ready.length === 0 || outgoing.writableNeedDrain || isAbandoned(outgoing)) return;
    outgoing.write(joined(ready));
    ready = [];
    size = 0;
  };
  for await (const chunk of chunks) {
    ready.push(chunk);
    size += chunk.length;
    if (outgoing.writableNeedDrain) await drained(outgoing);
    if (isAbandoned(outgoing)) return;
    if (size >= WRITE_SIZE) flush();
    // This runs when all promises that are ready have run: when whoever makes the stream has to wait.
    else if (ready.length === 1) process.nextTick(flush);
  }
  if (outgoing.writableNeedDrain) await drained(outgoing);
  flush();
}

function joined(chunks: readonly (string | Uint8Array)[]): string | Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  if (chunks.every((chunk) => typeof chunk === "string")) return chunks.join("");
  return Buffer.concat(chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)));
}

/** Resolves when more can be written, or nothing ever again. */
async function drained(outgoing: Outgoing): Promise<void> {
  const done = new AbortController();
  try {
    const { signal } = done;
    await Promise.race([once(outgoing, "drain", { signal }), once(outgoing, "close", { signal })]);
  } catch {
    // The connection broke: the caller sees that it is gone.
  } finally {
    done.abort();
  }
}

function outgoingHeaders(headers: HeaderMap): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = {};
  for (const name of Object.keys(headers)) {
    const values = headerValues(headers, name);
    if (values.length > 0) result[name] = values.length === 1 ? values[0]! : [...values];
  }
  return result;
}
