import type { Client } from "@konverge/client";
import type { Permission } from "@konverge/runtime";
import type { ObservedAccess } from "../black-box/program-access.ts";

/** The resources of a cluster, as roles name them. */
export interface ClusterResources {
  has(group: string, resource: string): boolean;
  isNamespaced(group: string, resource: string): boolean;
}

export async function resourcesOf(client: Client): Promise<ClusterResources> {
  const { resources } = await client.mapper.refresh();
  const known = new Map(resources.map(({ group, plural, namespaced }) => [`${group}/${plural}`, namespaced]));
  const keyOf = (group: string, resource: string) => `${group}/${resource.split("/")[0]}`;
  return {
    has: (group, resource) => known.has(keyOf(group, resource)),
    isNamespaced: (group, resource) => known.get(keyOf(group, resource)) ?? false,
  };
}

/** Objects of the cluster that belong to one operator, and of which it needs no others. */
const SINGLE = new Set([
  "customresourcedefinitions",
  "validatingwebhookconfigurations",
  "mutatingwebhookconfigurations",
  "apiservices",
]);

/**
 * What was observed, as a role has to grant it. A scenario's namespace stands for every namespace of users if the program lists or
 * watches over all namespaces; leases, and what it does in other namespaces, are granted for those objects only.
 */
export function permissionsToGrant(
  observed: readonly ObservedAccess[],
  home: string,
  resources: ClusterResources,
): ObservedAccess[] {
  const isEverywhere = observed.some(
    ({ permission: { group, resource, verb, namespace } }) =>
      namespace === undefined && /^(list|watch)$/.test(verb) && resources.isNamespaced(group, resource),
  );
  const granted = observed.map(({ permission, request }) => ({
    permission: placed(permission, home, isEverywhere, resources),
    request,
  }));
  const distinct = new Map<string, ObservedAccess>();
  for (const one of granted) {
    const key = JSON.stringify(one.permission);
    if (!distinct.has(key)) distinct.set(key, one);
  }
  const all = [...distinct.values()];
  return all.filter((one) => !all.some((other) => other !== one && includes(other.permission, one.permission)));
}

function placed(
  { verb, group, resource, namespace, name }: Permission,
  home: string,
  isEverywhere: boolean,
  resources: ClusterResources,
): Permission {
  const base = { verb, group, resource };
  const named = name === undefined ? {} : { name };
  if (!resources.isNamespaced(group, resource))
    return SINGLE.has(resource.split("/")[0]!) ? { ...base, ...named } : base;
  if (namespace === undefined) return base;
  if (resource === "leases" && group === "coordination.k8s.io") return { ...base, namespace, ...named };
  if (namespace === home) return isEverywhere ? base : { ...base, namespace };
  return { ...base, namespace, ...named };
}

/** Whether one permission grants what the other grants, and more. */
function includes(wide: Permission, narrow: Permission): boolean {
  return (
    wide.verb === narrow.verb &&
    wide.group === narrow.group &&
    wide.resource === narrow.resource &&
    (wide.namespace === undefined || wide.namespace === narrow.namespace) &&
    (wide.name === undefined || wide.name === narrow.name)
  );
}
