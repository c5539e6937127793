import type { ApiRequest, ApiResponse, Transport } from "@konverge/core";

/** Resources that are asked by a POST and store nothing. */
const ASKED = /\/(selfsubject\w+|subjectaccessreviews|localsubjectaccessreviews|tokenreviews)(\?|$)/;
/** Requests that reach into a container or a service: no server can do these for show. */
const REACHING = /\/(exec|attach|portforward|proxy)(\/|\?|$)/;

/**
 * A transport whose writes are dry runs: the server does all that it does for a write, admission included, answers what would
 * come of it, and stores nothing. What cannot be a dry run, such as a command in a container, is refused here.
 */
export function dryRunTransport(transport: Transport): Transport {
  return async (request) => {
    const { method, path } = request;
    if (REACHING.test(path) && (request.upgrade || request.tunnel || method !== "GET")) return refused(request);
    if (method === "GET" || method === "HEAD" || method === "OPTIONS" || ASKED.test(path)) return transport(request);
    return transport({
      ...request,
      path: path.includes("dryRun=") ? path : `${path}${path.includes("?") ? "&" : "?"}dryRun=All`,
      // A server that gets the options of a deletion in the body does not read those in the query.
      ...(method === "DELETE" && request.body !== undefined && { body: dryRunOptions(request.body) }),
    });
  };
}

function dryRunOptions(body: string | Uint8Array): string {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return JSON.stringify({ ...(JSON.parse(text) as object), dryRun: ["All"] });
}

function refused({ method, path }: ApiRequest): ApiResponse {
  const message = `${method} ${path.split("?")[0]} is not sent in a dry run`;
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "MethodNotAllowed" };
  return {
    status: 405,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...status, message, code: 405 }),
  };
}
