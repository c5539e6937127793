import { append } from "@konverge/core";
import type { Attributes } from "../auth/attributes.ts";
import type { User } from "../auth/user.ts";

/** How much is written of a request: nothing, who did what, also the request's body, also the answer's. */
export type AuditLevel = "None" | "Metadata" | "Request" | "RequestResponse";

/** When it is written: on arrival, when a long answer begins, when the answer is complete, when the server failed. */
export type AuditStage = "RequestReceived" | "ResponseStarted" | "ResponseComplete" | "Panic";

/** An `audit.k8s.io/v1` Policy: the first rule that matches a request decides; none means None. */
export interface AuditPolicy {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly rules: readonly AuditRule[];
  readonly omitStages?: readonly AuditStage[];
  readonly omitManagedFields?: boolean;
}

/** What must hold of a request (whatever is left out holds of all), and how much is then written. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly {
    readonly group?: string;
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly namespaces?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly AuditStage[];
  readonly omitManagedFields?: boolean;
}

/** What a policy says about one request. */
export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** Who did what, of everything: no body of any Secret is in it. */
export const METADATA_POLICY: AuditPolicy = { rules: [{ level: "Metadata" }] };

const LEVELS: readonly AuditLevel[] = ["None", "Metadata", "Request", "RequestResponse"];
const STAGES: readonly AuditStage[] = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];

/** Whether what a level asks for includes what another does. */
export function isAtLeast(level: AuditLevel, other: AuditLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(other);
}

/** A policy from the object in a policy file; throws with everything that is wrong with it. */
export function parseAuditPolicy(object: unknown): AuditPolicy {
  const policy = object as AuditPolicy | null;
  const errors: string[] = [];
  if (policy?.kind !== "Policy" || policy.apiVersion !== "audit.k8s.io/v1") {
    errors.push("it must have apiVersion: audit.k8s.io/v1 and kind: Policy");
  }
  if (!Array.isArray(policy?.rules) || policy.rules.length === 0) errors.push("rules: at least one is needed");
  else {
    for (const [i, rule] of policy.rules.entries())
      append(
        errors,
        ruleErrors(rule).map((why) => `rules[${i}].${why}`),
      );
  }
  append(errors, stageErrors(policy?.omitStages));
  if (errors.length > 0) throw new Error(`the audit policy is not valid: ${errors.join("; ")}`);
  return policy as AuditPolicy;
}

function ruleErrors(rule: AuditRule): string[] {
  const errors = stageErrors(rule.omitStages);
  if (!LEVELS.includes(rule.level)) {
    errors.push(`level: ${JSON.stringify(rule.level)} is none of ${LEVELS.join(", ")}`);
  }
  if (rule.nonResourceURLs?.length && (rule.resources?.length || rule.namespaces?.length)) {
    errors.push("nonResourceURLs: cannot apply to both regular resources and non-resource URLs");
  }
  for (const url of rule.nonResourceURLs ?? []) {
    if (url !== "*" && !url.startsWith("/")) errors.push(`nonResourceURLs: ${url} must start with "/" or be "*"`);
    else if (/\*(?!$)/.test(url)) errors.push(`nonResourceURLs: ${url} may have a "*" at its end alone`);
  }
  return errors;
}

function stageErrors(stages: readonly AuditStage[] = []): string[] {
  return stages
    .filter((stage) => !STAGES.includes(stage))
    .map((stage) => `omitStages: ${JSON.stringify(stage)} is none of ${STAGES.join(", ")}`);
}

/** What to write of a request. There is no user yet when authentication failed. */
export function auditDecision(policy: AuditPolicy, user: User | undefined, action: Attributes): AuditDecision {
  const rule = policy.rules.find((each) => ruleMatches(each, user, action));
  return {
    level: rule?.level ?? "None",
    omitStages: new Set([...(policy.omitStages ?? []), ...(rule?.omitStages ?? [])]),
    omitManagedFields: rule?.omitManagedFields ?? policy.omitManagedFields ?? false,
  };
}

function ruleMatches(rule: AuditRule, user: User | undefined, action: Attributes): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule;
  if (users?.length && !(user && users.includes(user.name))) return false;
  if (userGroups?.length && !user?.groups.some((group) => userGroups.includes(group))) return false;
  if (verbs?.length && !verbs.includes(action.verb)) return false;
  if (namespaces?.length || resources?.length) return resourceMatches(rule, action);
  if (nonResourceURLs?.length) {
    return !action.isResource && nonResourceURLs.some((pattern) => pathMatches(pattern, action.path));
  }
  return true;
}

function resourceMatches({ namespaces, resources }: AuditRule, action: Attributes): boolean {
  if (!action.isResource) return false;
  if (namespaces?.length && !namespaces.includes(action.namespace)) return false;
  if (!resources?.length) return true;
  const { resource, subresource, name } = action;
  const accepted = new Set([
    "*",
    `${resource}/*`,
    subresource === "" ? resource : `${resource}/${subresource}`,
    ...(subresource === "" ? [] : [`*/${subresource}`]),
  ]);
  return resources.some((entry) => {
    if (entry.group !== "*" && (entry.group ?? "") !== action.group) return false;
    if (!entry.resources?.length) return true;
    if (entry.resourceNames?.length && !entry.resourceNames.includes(name)) return false;
    return entry.resources.some((each) => accepted.has(each));
  });
}

function pathMatches(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.replace(/\*+$/, "")));
}
