import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { ApiError, badRequest, type HeaderMap } from "@konverge/core";

/** A request of either protocol; what is used of it is the same in both. */
export type Incoming = IncomingMessage | Http2ServerRequest;

/** The limit of a real API server on the head of a request. As in HTTP/2, each header counts 32 bytes more than it has. */
export const LARGEST_HEAD = 1024 * 1024;
const HEADER_OVERHEAD = 32;
/** As many headers as can be within the limit. */
export const MOST_HEADERS = LARGEST_HEAD / HEADER_OVERHEAD;

/**
 * Headers with every value of those that came more than once, which neither protocol's own map has. The object has no
 * prototype: clients choose the names. Throws when they are larger than {@link LARGEST_HEAD}.
 */
export function headersOf({ rawHeaders }: Pick<Incoming, "rawHeaders">): HeaderMap {
  const headers: Record<string, string | string[]> = Object.create(null);
  let size = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = rawHeaders[i + 1]!;
    size += name.length + value.length + HEADER_OVERHEAD;
    if (size > LARGEST_HEAD) throw headTooLarge();
    if (name.startsWith(":")) {
      if (name === ":authority") headers["host"] ??= value;
      continue;
    }
    const known = headers[name];
    if (name === "host" && known !== undefined) {
      if (known !== value) throw badRequest("too many Host headers");
      continue;
    }
    if (known === undefined) headers[name] = value;
    else if (typeof known === "string") headers[name] = [known, value];
    else known.push(value);
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

function headTooLarge(): ApiError {
  const message = `Request header fields too large: limit is ${LARGEST_HEAD} bytes, of which each header takes ${HEADER_OVERHEAD} more than it has`;
  return new ApiError({ code: 431, reason: "RequestHeaderFieldsTooLarge", message });
}
