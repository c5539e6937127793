/**
 * What the server serves, for clients: groups, versions and resources, in the plain form (a document per group and
 * version) and the aggregated one (two documents in all). Both are made from the registry and kept until it changes.
 */
import { createHash } from "node:crypto";
import { type ApiRequest, type ApiResponse, headerOf, stringifyJson } from "@konverge/core";
import type { DiscoveredGroup, PlainGroup } from "../aggregation/merged-groups.ts";
import { parseAccept } from "../http/media-types.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Registry } from "../resources/registry.ts";
import { AGGREGATED_TYPE, groupDiscoveryList } from "./aggregated.ts";
import { type ServedGroup, servedGroups } from "./api-groups.ts";
import { apiResourceList, apiVersions, GROUP_LIST, plainGroup } from "./plain.ts";

/** What other servers serve under this one's name. */
export interface ForeignGroups {
  plainGroups(groups: readonly PlainGroup[]): readonly PlainGroup[];
  discoveredGroups(groups: readonly DiscoveredGroup[]): readonly DiscoveredGroup[];
}

export class Discovery {
  readonly #registry: Registry;
  readonly #address: () => string;
  readonly #foreign: ForeignGroups;
  #generation = -1;
  #groups: ServedGroup[] = [];

  constructor(registry: Registry, address: () => string, foreign: ForeignGroups) {
    this.#registry = registry;
    this.#address = address;
    this.#foreign = foreign;
  }

  /** Answers a request under /api or /apis that is not about objects; undefined when there is no such document. */
  answer(request: ApiRequest, info: RequestInfo): ApiResponse | undefined {
    if (this.#generation !== this.#registry.generation) {
      this.#groups = servedGroups(this.#registry);
      this.#generation = this.#registry.generation;
    }
    let { path } = info;
    while (path.endsWith("/")) path = path.slice(0, -1);
    if (path === "/api" || path === "/apis") {
      const core = path === "/api";
      if (wantsAggregated(request)) return tagged(request, AGGREGATED_TYPE, this.#aggregated(core));
      return plain(core ? apiVersions(this.#address()) : { ...GROUP_LIST, groups: this.#plainGroups() });
    }
    const [, root, first, second] = path.split("/");
    if (root === "apis" && second === undefined) {
      const found = this.#plainGroups().find(({ name }) => name === first);
      return found && plain({ kind: "APIGroup", apiVersion: "v1", ...found });
    }
    const group = this.#groups.find((candidate) => candidate.group === (root === "api" ? "" : first));
    if (!group) return undefined;
    const version = root === "api" ? first : second;
    const served = group.versions.find((candidate) => candidate.version === version);
    return served && plain(apiResourceList(served));
  }

  #plainGroups(): readonly PlainGroup[] {
    return this.#foreign.plainGroups(this.#groups.filter(({ group }) => group !== "").map(plainGroup));
  }

  #aggregated(core: boolean): object {
    const list = groupDiscoveryList(this.#groups.filter(({ group }) => (group === "") === core));
    return core ? list : { ...list, items: this.#foreign.discoveredGroups(list.items) };
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
