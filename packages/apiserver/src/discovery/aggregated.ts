import type { SubresourceDefinition } from "../resources/definition.ts";
import { type ServedGroup, type ServedVersion, verbsOf } from "./api-groups.ts";

/** The newer form of discovery: everything in one document (two: /api has the core group, /apis the others). */
export const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export function groupDiscoveryList(groups: readonly ServedGroup[]) {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: { ...(group !== "" && { name: group }), creationTimestamp: null },
      versions: versions.map(versionDiscovery),
    })),
  };
}

function versionDiscovery(served: ServedVersion) {
  const { group } = served;
  const resources = [...served.resources].sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1));
  return {
    version: served.version,
    resources: resources.map(({ definition, version }) => ({
      resource: definition.plural,
      responseKind: { group, version: served.version, kind: version.kind },
      scope: definition.namespaced ? "Namespaced" : "Cluster",
      singularResource: definition.singular,
      verbs: verbsOf(definition, version),
      ...(definition.shortNames.length > 0 && { shortNames: definition.shortNames }),
      ...(definition.categories.length > 0 && { categories: definition.categories }),
      ...(version.subresources.size > 0 && {
        subresources: [...version.subresources.values()].sort(byName).map(subresource),
      }),
    })),
    freshness: "Current",
  };
}

function subresource({ name, kind, verbs }: SubresourceDefinition) {
  return { subresource: name, responseKind: kind, verbs: [...verbs].sort() };
}

function byName(a: SubresourceDefinition, b: SubresourceDefinition): number {
  return a.name < b.name ? -1 : 1;
}
