import { type IncomingMessage, request } from "node:http";
import type { RayFetch } from "./dashboard-request.ts";

/** What is read of an answer: a dashboard is a user's program, which must not fill the memory of the operator. */
const MOST_MEBIBYTES = 10;

/**
 * As `fetch`, but without headers of browsers: Node's adds `Sec-Fetch-Mode` to each request, and a dashboard lets a browser only
 * read. Each request has its own connection, since a head that was replaced does not know those of the one before.
 */
export const dashboardFetch: RayFetch = (url, { method = "GET", headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const options = { method, headers: Object.fromEntries(new Headers(headers)), agent: false } as const;
    const outgoing = request(url, { ...options, ...(signal && { signal }) }, (incoming) => {
      responseOf(incoming).then(resolve, reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });

async function responseOf(incoming: IncomingMessage): Promise<Response> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of incoming as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > MOST_MEBIBYTES * 2 ** 20) throw new Error(`the answer has more than ${MOST_MEBIBYTES} MiB`);
    parts.push(part);
  }
  const content = length > 0 ? Buffer.concat(parts) : null;
  return new Response(content, { status: incoming.statusCode! });
}
