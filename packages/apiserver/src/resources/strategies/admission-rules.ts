import { append, type FieldError, type LabelSelector, pathSegmentErrors, qualifiedNameErrors } from "@konverge/core";
import { duplicate, invalidValue, notSupported, required, tooMany } from "@konverge/schema";
import { CelEnvironment } from "@konverge/schema/cel";
import { named } from "./pod-spec/checks.ts";
import { labelSelectorErrors } from "./selectors.ts";

/** Which writes a webhook or policy is about. */
export interface Rule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  resourceNames?: string[];
  scope?: string;
}

/** What a policy or a binding selects. */
export interface MatchResources {
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: Rule[];
  excludeResourceRules?: Rule[];
}

/** A condition that a write has to meet. */
export interface MatchCondition {
  name?: string;
  expression?: string;
}

export const FAILURE_POLICIES = ["Fail", "Ignore"];
export const MATCH_POLICIES = ["Equivalent", "Exact"];
export const REINVOCATION_POLICIES = ["IfNeeded", "Never"];
const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MUTATING_OPERATIONS = ["*", "CONNECT", "CREATE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const MOST_CONDITIONS = 64;

/** What is wrong with a rule. */
export function ruleErrors(rule: Rule, field: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const errors: FieldError[] = [];
  const alone = (list: readonly string[], name: string, what: string) => {
    if (list.length <= 1 || !list.includes("*")) return;
    errors.push(invalidValue(`${field}.${name}`, list, `if '*' is present, must not specify other ${what}`));
  };
  if (operations.length === 0) errors.push(required(`${field}.operations`));
  alone(operations, "operations", "operations");
  operations.forEach((operation, index) => {
    if (!OPERATIONS.includes(operation))
      errors.push(notSupported(`${field}.operations[${index}]`, operation, OPERATIONS));
  });
  if (apiGroups.length === 0) errors.push(required(`${field}.apiGroups`));
  alone(apiGroups, "apiGroups", "API groups");
  if (apiVersions.length === 0) errors.push(required(`${field}.apiVersions`));
  alone(apiVersions, "apiVersions", "API versions");
  apiVersions.forEach((version, index) => {
    if (version === "") errors.push(required(`${field}.apiVersions[${index}]`));
  });
  append(errors, resourcesErrors(resources, `${field}.resources`));
  if (scope !== undefined && !SCOPES.includes(scope)) errors.push(notSupported(`${field}.scope`, scope, SCOPES));
  return errors;
}

function resourcesErrors(resources: readonly string[], field: string): FieldError[] {
  if (resources.length === 0) return [required(field)];
  const errors: FieldError[] = [];
  const allOf = new Set<string>();
  const ofAll = new Set<string>();
  let hasPlain = false;
  resources.forEach((text, index) => {
    const at = `${field}[${index}]`;
    if (text === "") {
      errors.push(required(at));
      return;
    }
    const slash = text.indexOf("/");
    if (slash < 0) {
      // Only the last one counts, here as in a real server.
      hasPlain = text !== "*";
      return;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (allOf.has(resource)) {
      errors.push(invalidValue(at, text, `if '${resource}/*' is present, must not specify ${text}`));
    }
    if (ofAll.has(subresource)) {
      errors.push(invalidValue(at, text, `if '*/${subresource}' is present, must not specify ${text}`));
    }
    if (subresource === "*") allOf.add(resource);
    if (resource === "*") ofAll.add(subresource);
  });
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes("*") && hasPlain) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalidValue(field, resources, detail));
  }
  return errors;
}

/** What is wrong with what a policy or binding selects. */
export function matchResourcesErrors(match: MatchResources | undefined, field: string): FieldError[] {
  if (!match) return [];
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules, excludeResourceRules } = match;
  const errors: FieldError[] = [];
  if (matchPolicy === undefined) errors.push(required(`${field}.matchPolicy`));
  else if (!MATCH_POLICIES.includes(matchPolicy)) {
    errors.push(notSupported(`${field}.matchPolicy`, matchPolicy, MATCH_POLICIES));
  }
  if (!namespaceSelector) errors.push(required(`${field}.namespaceSelector`));
  else append(errors, labelSelectorErrors(namespaceSelector, `${field}.namespaceSelector`));
  if (!objectSelector) errors.push(required(`${field}.objectSelector`));
  else append(errors, labelSelectorErrors(objectSelector, `${field}.objectSelector`));
  for (const [name, rules = []] of [
    ["resourceRules", resourceRules],
    ["excludeResourceRules", excludeResourceRules],
  ] as const) {
    rules.forEach((rule, index) => {
      const at = `${field}.${name}[${index}]`;
      append(errors, resourceNameErrors(rule.resourceNames ?? [], `${at}.resourceNames`));
      append(errors, ruleErrors(rule, at));
    });
  }
  return errors;
}

function resourceNameErrors(names: readonly string[], field: string): FieldError[] {
  return names.flatMap((name, index) => [
    ...named(`${field}[${index}]`, name, pathSegmentErrors(name)),
    ...(names.indexOf(name) < index ? [duplicate(`${field}[${index}]`, name)] : []),
  ]);
}

/** What is wrong with rules of what is to be changed: a deletion cannot. */
export function mutatedOperationErrors(match: MatchResources | undefined, field: string): FieldError[] {
  return (match?.resourceRules ?? [])
    .flatMap(({ operations = [] }) => operations)
    .filter((operation) => !MUTATING_OPERATIONS.includes(operation))
    .map((operation) => notSupported(`${field}.resourceRules.operations`, operation, MUTATING_OPERATIONS));
}

/** What is wrong with conditions. */
export function conditionErrors(
  conditions: readonly MatchCondition[],
  field: string,
  { params = false } = {},
): FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > MOST_CONDITIONS) errors.push(tooMany(field, conditions.length, MOST_CONDITIONS));
  const environment = new CelEnvironment({ authorizer: true, params });
  const listed = new Set<string>();
  conditions.forEach(({ name = "", expression = "" }, index) => {
    const at = `${field}[${index}]`;
    const trimmed = expression.trim();
    if (trimmed === "") errors.push(required(`${at}.expression`));
    else {
      const { error } = environment.compile(trimmed, "condition");
      if (error !== undefined) errors.push(invalidValue(`${at}.expression`, trimmed, error));
    }
    if (name === "") errors.push(required(`${at}.name`));
    else {
      append(errors, named(`${at}.name`, name, qualifiedNameErrors(name)));
      if (listed.has(name)) errors.push(duplicate(`${at}.name`, name));
      listed.add(name);
    }
  });
  return errors;
}
