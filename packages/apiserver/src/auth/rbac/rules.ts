import { quoted } from "@konverge/core";
import type { Attributes } from "../attributes.ts";

/** One rule of a role: these verbs on these resources, or on these paths. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** Whether a rule allows an action. */
export function ruleAllows(rule: PolicyRule, action: Attributes): boolean {
  if (!includesOrAll(rule.verbs, action.verb)) return false;
  if (!action.isResource) return (rule.nonResourceURLs ?? []).some((url) => urlCovers(url, action.path));
  return (
    includesOrAll(rule.apiGroups, action.group) &&
    resourcesCover(rule.resources, action.resource, action.subresource) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(action.name))
  );
}

function includesOrAll(list: readonly string[] | undefined, item: string): boolean {
  return list !== undefined && (list.includes(item) || list.includes("*"));
}

function resourcesCover(list: readonly string[] | undefined, resource: string, subresource: string): boolean {
  if (!list) return false;
  if (subresource === "") return list.includes(resource) || list.includes("*");
  return list.includes(`${resource}/${subresource}`) || list.includes("*") || list.includes(`*/${subresource}`);
}

function urlCovers(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.replace(/\*+$/, "")));
}

/**
 * What the second set of rules allows beyond the first, split into single actions. A user with the first set may
 * grant the second only if nothing is left.
 */
export function rulesBeyond(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(singleActions).filter((action) => !held.some((rule) => ruleCovers(rule, action)));
}

function singleActions({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): PolicyRule[] {
  const actions: PolicyRule[] = [];
  for (const group of apiGroups ?? []) {
    for (const resource of resources ?? []) {
      for (const verb of verbs) {
        const action = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (!resourceNames?.length) actions.push(action);
        else for (const name of resourceNames) actions.push({ ...action, resourceNames: [name] });
      }
    }
  }
  for (const url of nonResourceURLs ?? []) {
    for (const verb of verbs) actions.push({ nonResourceURLs: [url], verbs: [verb] });
  }
  return actions;
}

function ruleCovers(rule: PolicyRule, action: PolicyRule): boolean {
  return (
    action.verbs.every((verb) => includesOrAll(rule.verbs, verb)) &&
    (action.apiGroups ?? []).every((group) => includesOrAll(rule.apiGroups, group)) &&
    (action.resources ?? []).every((resource) => {
      const slash = resource.indexOf("/");
      const anyOf = slash < 0 ? undefined : `*${resource.slice(slash)}`;
      return includesOrAll(rule.resources, resource) || (anyOf !== undefined && rule.resources?.includes(anyOf));
    }) &&
    (action.nonResourceURLs ?? []).every((path) => (rule.nonResourceURLs ?? []).some((url) => urlCovers(url, path))) &&
    // A rule for some names never covers an action on all of them.
    (!rule.resourceNames?.length || (action.resourceNames ?? [""]).every((name) => rule.resourceNames?.includes(name)))
  );
}

/** Rules for people: one line for each resource, sorted, with all verbs. */
export function describeRules(rules: readonly PolicyRule[]): string[] {
  const byResource = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.nonResourceURLs?.length) {
      others.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    const known = byResource.get(key);
    byResource.set(key, known ? { ...known, verbs: [...known.verbs, ...rule.verbs] } : rule);
  }
  return [...new Set([...others, ...byResource.values()].map(describeRule))].sort();
}

function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const part = (name: string, values: readonly string[] | undefined) =>
    values?.length ? [`${name}:${quotedList(values)}`] : [];
  const parts = [
    ...part("APIGroups", apiGroups),
    ...part("Resources", resources),
    ...part("NonResourceURLs", nonResourceURLs),
    ...part("ResourceNames", resourceNames),
    ...part("Verbs", verbs),
  ];
  return `{${parts.join(", ")}}`;
}

/** As Go prints a list of strings: `["a" "b"]`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map(quoted).join(" ")}]`;
}
