import type { SubresourceDefinition } from "../resources/definition.ts";
import type { ServedGroup, ServedVersion } from "./api-groups.ts";

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
  const { group, version } = served;
  const resources = [...served.resources].sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1));
  return {
    version,
    resources: resources.map(({ definition, version: { kind, verbs, subresources } }) => ({
      resource: definition.plural,
      responseKind: { group, version, kind },
      scope: definition.namespaced ? "Namespaced" : "Cluster",
      singularResource: definition.singular,
      verbs: [...verbs].sort(),
      ...(definition.shortNames.length > 0 && { shortNames: definition.shortNames }),
      ...(definition.categories.length > 0 && { categories: definition.categories }),
      ...(subresources.size > 0 && { subresources: [...subresources.values()].sort(byName).map(subresource) }),
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
