import { request } from "node:http";
import { text } from "node:stream/consumers";
import type { RayFetch } from "./serve-applications.ts";

/**
 * As `fetch`, but without headers of browsers: Node's adds `Sec-Fetch-Mode` to each request, and a dashboard lets a browser only
 * read. Each request has its own connection, since a head that was replaced does not know those of the one before.
 */
export const dashboardFetch: RayFetch = (url, { method = "GET", headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const options = { method, headers: Object.fromEntries(new Headers(headers)), agent: false } as const;
    const outgoing = request(url, { ...options, ...(signal && { signal }) }, (incoming) => {
      text(incoming).then((answer) => resolve(new Response(answer || null, { status: incoming.statusCode! })), reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
