import type { Client } from "@konverge/client";
import { ApiError, parseJson, stringifyJson } from "@konverge/core";
import { requestedPath } from "./requested-path.ts";

/** A request of the page to the API server. */
export interface ProxiedRequest {
  readonly method: string;
  /** Path and query, as the API server knows them. */
  readonly path: string;
  readonly contentType?: string;
  readonly body: string;
}

export interface ProxiedAnswer {
  readonly status: number;
  readonly body: string;
}

/** Reviews that change nothing: the page asks by them what the user may do. */
const REVIEWS = /^\/apis\/authorization\.k8s\.io\/v1\/selfsubject(access|rules)reviews$/;

/**
 * Sends a request of the page to the API server, in the name of the user whose kubeconfig the console was started with: what
 * the user cannot do, the page cannot. Read-only, nothing is sent that writes, not even a dry run.
 */
export async function proxied(client: Client, request: ProxiedRequest, readOnly: boolean): Promise<ProxiedAnswer> {
  const { method, contentType, body } = request;
  const requested = requestedPath(request.path);
  if (!requested) return failure(403, "Forbidden", `the console does not request ${request.path}`);
  const isReading = method === "GET" || (method === "POST" && REVIEWS.test(requested.path));
  if (readOnly && !isReading) {
    return failure(403, "Forbidden", "the console is read-only: start it without --read-only to make changes");
  }
  if (requested.query.has("watch") || requested.query.has("follow"))
    return failure(400, "BadRequest", "the console streams changes by itself");
  try {
    const text = await client.request({
      method,
      path: requested.text,
      ...(body !== "" && { body: parseJson(body), contentType: contentType ?? "application/json" }),
    });
    return { status: 200, body: text };
  } catch (error) {
    if (error instanceof ApiError) return { status: error.code, body: stringifyJson(error.status) };
    if (error instanceof SyntaxError) return failure(400, "BadRequest", `the body is not JSON: ${error.message}`);
    return failure(502, "ServiceUnavailable", error instanceof Error ? error.message : String(error));
  }
}

function failure(code: number, reason: string, message: string): ProxiedAnswer {
  return { status: code, body: stringifyJson(new ApiError({ code, reason, message }).status) };
}
