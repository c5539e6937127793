import type { PolicyRule } from "./rules.ts";

/** Each rule once, where it comes first. */
export function distinctRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const distinct = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const same = identity(rule);
    if (!distinct.has(same)) distinct.set(same, rule);
  }
  return [...distinct.values()];
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
