import type { IncomingMessage } from "node:http";
import { ApiError, badRequest, type Clock } from "@konverge/core";
import type { HeldBytes } from "./body-budget.ts";
import type { Incoming } from "./incoming.ts";

/** The limit of a real API server on the time that a body takes. */
const PATIENCE = 60_000;

/** What a body is limited by. */
export interface BodyLimits {
  /** Larger ones are refused. */
  readonly largest: number;
  /** What all requests of its user may hold at a time. */
  readonly held: HeldBytes;
  readonly clock: Clock;
}

/** The whole body of a request, or undefined when there is none. Throws what its client is answered when it goes beyond a limit. */
export async function readBody(incoming: Incoming, limits: BodyLimits): Promise<Uint8Array | undefined> {
  if (!hasBody(incoming)) return undefined;
  const late = Promise.withResolvers<never>();
  const timer = limits.clock.after(PATIENCE, () => late.reject(bodyTimeout()));
  let isOver = false;
  const take = (bytes: number) => {
    if (!isOver) limits.held.take(bytes);
  };
  try {
    const body = collected(incoming, limits.largest, take);
    body.catch(() => {});
    return await Promise.race([body, late.promise]);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw badRequest(`the body of the request ended before it was complete: ${(error as Error).message}`);
  } finally {
    isOver = true;
    timer.cancel();
  }
}

async function collected(
  incoming: Incoming,
  largest: number,
  take: (bytes: number) => void,
): Promise<Uint8Array | undefined> {
  if (Number(incoming.headers["content-length"] ?? 0) > largest) throw tooLarge(largest);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largest) throw tooLarge(largest);
    if (chunks.length > MOST_SMALL_PIECES + size / SMALL_PIECE) throw tooManyPieces(chunks.length);
    take(chunk.length);
    chunks.push(chunk);
  }
  return size === 0 ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

/**
 * Discards the body of a request that was answered without it. A connection that is closed while its client still sends can
 * take the answer away from it; one that sends too much, or for too long, is closed all the same.
 */
export function discardBody(incoming: IncomingMessage, largest: number, clock: Clock): void {
  const close = () => incoming.socket.destroy();
  const timer = clock.after(PATIENCE, close);
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > largest) close();
  });
  incoming.on("error", () => {});
  for (const event of ["end", "close"]) incoming.once(event, () => timer.cancel());
}

function hasBody(incoming: Incoming): boolean {
  if ("stream" in incoming) return !incoming.stream.endAfterHeaders;
  const { "content-length": length, "transfer-encoding": encoding } = incoming.headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}

/** Each piece of a body takes time, however small it is: millions of single bytes would take half a minute. */
const MOST_SMALL_PIECES = 10_000;
const SMALL_PIECE = 64;

function tooManyPieces(count: number): ApiError {
  return badRequest(`the body of the request came in more than ${count} pieces: send larger ones`);
}

function tooLarge(limit: number): ApiError {
  const message = `Request entity too large: limit is ${limit}`;
  return new ApiError({ code: 413, reason: "RequestEntityTooLarge", message });
}

function bodyTimeout(): ApiError {
  const message = "Timeout: request did not complete within the allotted timeout";
  return new ApiError({ code: 504, reason: "Timeout", message, details: {} });
}
