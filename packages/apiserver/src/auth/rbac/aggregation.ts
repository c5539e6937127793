import { matchesLabels, requirementsOf } from "@konverge/core";
import type { RoleObject } from "./role-objects.ts";
import type { PolicyRule } from "./rules.ts";

/**
 * The rules that an aggregated ClusterRole has by the roles there are: those of all other roles that its selectors match,
 * in the order of their names, each rule once.
 */
export function aggregatedRules(role: RoleObject, all: Iterable<RoleObject>): PolicyRule[] {
  const byName = [...all].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules = new Map<string, PolicyRule>();
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const requirements = requirementsOf(selector);
    for (const other of byName) {
      if (other.metadata.name === role.metadata.name) continue;
      if (!matchesLabels(requirements, other.metadata.labels)) continue;
      for (const rule of other.rules ?? []) {
        const same = identity(rule);
        if (!rules.has(same)) rules.set(same, rule);
      }
    }
  }
  return [...rules.values()];
}

/** The same text for rules that say the same in the same order; a list that is empty or left out is one and the same. */
function identity({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): string {
  return JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
}
