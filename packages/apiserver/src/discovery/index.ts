/**
 * What the server serves, told to clients: groups, versions and resources, in the plain form (a document per group and
 * version) and the aggregated one (two documents in all). Both are made from the registry and kept until it changes.
 */
import { createHash } from "node:crypto";
import { type ApiRequest, type ApiResponse, headerOf, stringifyJson } from "@konverge/core";
import { parseAccept } from "../http/media-types.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Registry } from "../resources/registry.ts";
import { AGGREGATED_TYPE, groupDiscoveryList } from "./aggregated.ts";
import { type ServedGroup, servedGroups } from "./api-groups.ts";
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from "./plain.ts";

export class Discovery {
  readonly #registry: Registry;
  readonly #address: () => string;
  #generation = -1;
  #groups: ServedGroup[] = [];

  constructor(registry: Registry, address: () => string) {
    this.#registry = registry;
    this.#address = address;
  }

  /** Answers a request under /api or /apis that is not about objects; undefined when there is no such document. */
  answer(request: ApiRequest, info: RequestInfo): ApiResponse | undefined {
    if (this.#generation !== this.#registry.generation) {
      this.#groups = servedGroups(this.#registry);
      this.#generation = this.#registry.generation;
    }
    const path = info.path.replace(/\/+$/, "");
    if (path === "/api" || path === "/apis") {
      const core = path === "/api";
      const groups = this.#groups.filter(({ group }) => (group === "") === core);
      if (wantsAggregated(request)) return tagged(request, AGGREGATED_TYPE, groupDiscoveryList(groups));
      return plain(core ? apiVersions(this.#address()) : apiGroupList(groups));
    }
    const [, root, first, second] = path.split("/");
    const group = this.#groups.find((candidate) => candidate.group === (root === "api" ? "" : first));
    if (!group) return undefined;
    const version = root === "api" ? first : second;
    if (version === undefined) return plain(apiGroup(group));
    const served = group.versions.find((candidate) => candidate.version === version);
    return served && plain(apiResourceList(served));
  }
}

function wantsAggregated(request: ApiRequest): boolean {
  for (const { type, parameters } of parseAccept(headerOf(request.headers, "accept"))) {
    if (type !== "application/json") continue;
    if (parameters.as === undefined) return false;
    if (parameters.g === "apidiscovery.k8s.io" && parameters.v === "v2" && parameters.as === "APIGroupDiscoveryList")
      return true;
  }
  return false;
}

function plain(body: object): ApiResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: `${stringifyJson(body)}\n` };
}

/** Clients keep the document and ask whether it is still the same. */
function tagged(request: ApiRequest, type: string, body: object): ApiResponse {
  const text = `${stringifyJson(body)}\n`;
  const etag = `"${createHash("sha512").update(text).digest("hex").toUpperCase()}"`;
  const headers = { "content-type": type, etag, vary: "Accept", "cache-control": "public" };
  if (headerOf(request.headers, "if-none-match") === etag) return { status: 304, headers, body: "" };
  return { status: 200, headers, body: text };
}
