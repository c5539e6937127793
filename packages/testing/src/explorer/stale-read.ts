import { type ApiRequest, type ApiResponse, readText } from "@konverge/core";
import type { DescribedRequest } from "./request-words.ts";
import { failureResponse } from "./responses.ts";

/** A read of an older state: the request to send instead, and how its response becomes the one to the original request. */
export interface OlderRead {
  readonly request: ApiRequest;
  answer(response: ApiResponse): Promise<ApiResponse>;
}

/**
 * The same read at an earlier revision, if the API permits it to be stale: `resourceVersion=0` asks for any version, another
 * value for one that is at least as new. A read without a resource version shows the newest state, always.
 */
export function readAt(request: ApiRequest, { target }: DescribedRequest, revision: number): OlderRead | undefined {
  const version = target?.query.get("resourceVersion");
  if (!target || version === null || version === undefined || version === "" || target.subresource) return undefined;
  if (Number(version) > revision || target.query.get("resourceVersionMatch") === "Exact") return undefined;
  const url = new URL(request.path, "http://localhost");
  url.searchParams.set("resourceVersion", String(revision));
  url.searchParams.set("resourceVersionMatch", "Exact");
  url.searchParams.delete("limit");
  const { name } = target;
  if (name === undefined) {
    return { request: { ...request, path: url.pathname + url.search }, answer: async (response) => response };
  }
  url.searchParams.set("fieldSelector", `metadata.name=${name}`);
  const collection = url.pathname.slice(0, url.pathname.lastIndexOf("/"));
  return {
    request: { ...request, path: collection + url.search },
    async answer(response) {
      if (response.status !== 200) return response;
      const list = JSON.parse(await readText(response.body)) as { apiVersion: string; kind: string; items: object[] };
      const [item] = list.items;
      const group = target.group === "" ? target.plural : `${target.plural}.${target.group}`;
      if (!item) return failureResponse(404, `${group} "${name}" not found`);
      const kind = list.kind.replace(/List$/, "");
      return { ...response, body: JSON.stringify({ apiVersion: list.apiVersion, kind, ...item }) };
    },
  };
}
