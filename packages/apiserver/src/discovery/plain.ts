import type { SubresourceDefinition } from "../resources/definition.ts";
import { groupVersionText, type ServedGroup, type ServedVersion, storageVersionHash, verbsOf } from "./api-groups.ts";

/** The older form of discovery: one document for the groups, one for each version of a group. */
export function apiVersions(address: string) {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
  };
}

/** What a list of groups is besides the groups. */
export const GROUP_LIST = { kind: "APIGroupList", apiVersion: "v1" };

export function plainGroup({ group, versions }: ServedGroup) {
  const named = versions.map((version) => ({ groupVersion: groupVersionText(version), version: version.version }));
  return { name: group, versions: named, ...(named[0] && { preferredVersion: named[0] }) };
}

export function apiResourceList(served: ServedVersion) {
  const resources = served.resources.flatMap(({ definition, version }) => [
    {
      name: definition.plural,
      singularName: definition.singular,
      namespaced: definition.namespaced,
      kind: version.kind,
      verbs: verbsOf(definition, version),
      ...(definition.shortNames.length > 0 && { shortNames: definition.shortNames }),
      ...(definition.categories.length > 0 && { categories: definition.categories }),
      ...(version.verbs.includes("get") && { storageVersionHash: storageVersionHash(definition) }),
    },
    ...[...version.subresources.values()].map((subresource) => ({
      name: `${definition.plural}/${subresource.name}`,
      singularName: "",
      namespaced: definition.namespaced,
      ...foreignKind(subresource, served),
      kind: subresource.kind.kind,
      verbs: [...subresource.verbs].sort(),
    })),
  ]);
  resources.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  // The core group's list, older than the others, does not say its own version.
  const apiVersion = served.group === "" ? {} : { apiVersion: "v1" };
  return { kind: "APIResourceList", ...apiVersion, groupVersion: groupVersionText(served), resources };
}

/** A subresource whose bodies belong to another group (Scale, Eviction) says which. */
function foreignKind({ kind }: SubresourceDefinition, { group, version }: ServedVersion) {
  return kind.group === group && kind.version === version ? {} : { group: kind.group, version: kind.version };
}
