import { requestInfo } from "@konverge/apiserver";
import type { Result } from "./play.ts";

/** `create apps/deployments 201`: what a request did to what, and how it ended. The measure of what scripts cover. */
export function triplesOf(results: readonly Result[]): Set<string> {
  const triples = new Set<string>();
  for (const result of results) {
    if (!("status" in result)) {
      triples.add(`watch ${result.what} events`);
      continue;
    }
    const [method, path] = result.what.split(" ") as [string, string];
    if (method === "watch") continue;
    const { verb, group, resource, subresource, isResource, path: plain } = requestInfo({ method, path });
    const subject = isResource ? `${group}/${resource}${subresource && `/${subresource}`}` : plain;
    const reason = (result.body as { reason?: string } | null)?.reason;
    triples.add(`${verb} ${subject} ${result.status}${reason ? ` ${reason}` : ""}`);
  }
  return triples;
}
