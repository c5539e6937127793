import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { ApiError, badRequest, type HeaderMap } from "@konverge/core";

/** A request of either protocol; what is used of it is the same in both. */
export type Incoming = IncomingMessage | Http2ServerRequest;

/** Headers with every value of those that came more than once, which neither protocol's own map has. */
export function headersOf(incoming: Incoming): HeaderMap {
  const headers: Record<string, string | string[]> = {};
  const { rawHeaders } = incoming;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = rawHeaders[i + 1]!;
    if (name.startsWith(":")) {
      if (name === ":authority") headers["host"] ??= value;
      continue;
    }
    const known = headers[name];
    headers[name] = known === undefined ? value : [known, value].flat();
  }
  return headers;
}

/** Path and query; a proxy's absolute form is cut down to them. */
export function pathOf({ url }: Incoming): string {
  if (url?.startsWith("/")) return url;
  if (url !== undefined && URL.canParse(url)) {
    const { pathname, search } = new URL(url);
    return pathname + search;
  }
  throw badRequest(`the request's path ${JSON.stringify(url)} must begin with a slash`);
}

/** The whole body, or undefined when there is none; throws when it is larger than `limit`. `count` gets the size of each part. */
export async function readBody(
  incoming: Incoming,
  limit: number,
  count: (bytes: number) => void,
): Promise<Uint8Array | undefined> {
  if (!hasBody(incoming)) return undefined;
  if (Number(incoming.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    count(chunk.length);
    chunks.push(chunk);
  }
  return size === 0 ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

function hasBody(incoming: Incoming): boolean {
  if ("stream" in incoming) return !incoming.stream.endAfterHeaders;
  const { "content-length": length, "transfer-encoding": encoding } = incoming.headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}

function tooLarge(limit: number): ApiError {
  const message = `Request entity too large: limit is ${limit}`;
  return new ApiError({ code: 413, reason: "RequestEntityTooLarge", message });
}
