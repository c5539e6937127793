import { ApiError, parseApiVersion } from "@konverge/core";
import type { Caller } from "../call.ts";
import type { CallOptions } from "../options.ts";
import type { ApiResource, DiscoveredApis } from "./api-resource.ts";

const AGGREGATED = ["v2", "v2beta1"]
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(",");

/** Everything a server serves: two requests where it has aggregated discovery, otherwise one per group version. */
export async function discover(caller: Caller, options: CallOptions = {}): Promise<DiscoveredApis> {
  const ask = async (path: string): Promise<DiscoveredApis> => {
    const call = { method: "GET", path, accept: `${AGGREGATED},application/json` };
    const answer = await caller.json<AggregatedList | LegacyVersions | LegacyGroups>(call, options);
    if (answer.kind === "APIGroupDiscoveryList") return fromAggregated(answer);
    const versions =
      answer.kind === "APIVersions"
        ? answer.versions
        : answer.groups.flatMap(({ versions, preferredVersion }) =>
            [preferredVersion, ...versions.filter(({ version }) => version !== preferredVersion?.version)].flatMap(
              (entry) => (entry ? [entry.groupVersion] : []),
            ),
          );
    return joined(await Promise.all(versions.map((version) => legacyVersion(caller, path, version, options))));
  };
  return joined(await Promise.all([ask("/api"), ask("/apis")]));
}

function joined(parts: DiscoveredApis[]): DiscoveredApis {
  return {
    resources: parts.flatMap((part) => part.resources),
    unavailable: parts.flatMap((part) => part.unavailable),
  };
}

function fromAggregated(list: AggregatedList): DiscoveredApis {
  const resources: ApiResource[] = [];
  const unavailable: DiscoveredApis["unavailable"][number][] = [];
  for (const { metadata, versions } of list.items) {
    const group = metadata?.name ?? "";
    for (const { version, freshness, resources: served } of versions ?? []) {
      if (freshness === "Stale") unavailable.push({ group, version, why: "its API server does not respond" });
      for (const item of served ?? []) {
        // Parents that exist only for their subresources have no kind.
        if (!item.responseKind?.kind) continue;
        resources.push({
          group,
          version,
          kind: item.responseKind.kind,
          plural: item.resource,
          namespaced: item.scope === "Namespaced",
          singular: item.singularResource ?? "",
          shortNames: item.shortNames ?? [],
          categories: item.categories ?? [],
          verbs: item.verbs ?? [],
          subresources: (item.subresources ?? []).map(({ subresource, verbs }) => ({ name: subresource, verbs })),
        });
      }
    }
  }
  return { resources, unavailable };
}

async function legacyVersion(
  caller: Caller,
  root: string,
  groupVersion: string,
  options: CallOptions,
): Promise<DiscoveredApis> {
  const { group, version } = parseApiVersion(groupVersion);
  let list: LegacyResources;
  try {
    list = await caller.json<LegacyResources>({ method: "GET", path: `${root}/${groupVersion}` }, options);
  } catch (error) {
    // One aggregated server that is away must not hide all the others.
    if (!(error instanceof ApiError)) throw error;
    return { resources: [], unavailable: [{ group, version, why: error.message }] };
  }
  const parents = list.resources.filter(({ name }) => !name.includes("/"));
  const resources = parents.map((item) => ({
    group,
    version,
    kind: item.kind,
    plural: item.name,
    namespaced: item.namespaced,
    singular: item.singularName ?? "",
    shortNames: item.shortNames ?? [],
    categories: item.categories ?? [],
    verbs: item.verbs ?? [],
    subresources: list.resources
      .filter(({ name }) => name.startsWith(`${item.name}/`))
      .map(({ name, verbs }) => ({ name: name.slice(item.name.length + 1), verbs: verbs ?? [] })),
  }));
  return { resources, unavailable: [] };
}

interface AggregatedList {
  kind: "APIGroupDiscoveryList";
  items: { metadata?: { name?: string }; versions?: AggregatedVersion[] }[];
}

interface AggregatedVersion {
  version: string;
  freshness?: "Current" | "Stale";
  resources?: {
    resource: string;
    responseKind?: { group: string; version: string; kind: string };
    scope: "Namespaced" | "Cluster";
    singularResource?: string;
    verbs?: string[];
    shortNames?: string[];
    categories?: string[];
    subresources?: { subresource: string; verbs: string[] }[];
  }[];
}

interface LegacyVersions {
  kind: "APIVersions";
  versions: string[];
}

interface LegacyGroups {
  kind: "APIGroupList";
  groups: {
    versions: { groupVersion: string; version: string }[];
    preferredVersion?: { groupVersion: string; version: string };
  }[];
}

interface LegacyResources {
  resources: {
    name: string;
    singularName?: string;
    namespaced: boolean;
    kind: string;
    verbs?: string[];
    shortNames?: string[];
    categories?: string[];
  }[];
}
