import {
  append,
  deepEqual,
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  type LabelSelector,
} from "@konverge/core";
import { duplicate, invalidValue, notSupported, required } from "@konverge/schema";
import type { WorkingObject } from "../../codec/working-object.ts";
import type { Strategy } from "../definition.ts";
import {
  conditionErrors,
  FAILURE_POLICIES,
  MATCH_POLICIES,
  type MatchCondition,
  REINVOCATION_POLICIES,
  type Rule,
  ruleErrors,
} from "./admission-rules.ts";
import { optionallyOneOf } from "./pod-spec/checks.ts";
import { labelSelectorErrors } from "./selectors.ts";
import { clientErrors } from "./webhook-client.ts";

interface Webhook {
  name?: string;
  clientConfig?: Parameters<typeof clientErrors>[0];
  rules?: Rule[];
  failurePolicy?: string;
  matchPolicy?: string;
  sideEffects?: string | null;
  timeoutSeconds?: number;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  reinvocationPolicy?: string;
  matchConditions?: MatchCondition[];
  admissionReviewVersions?: string[] | null;
}

/** What older objects were allowed and new ones are not: an object that has it may keep it. */
interface Strictness {
  readonly conditions: boolean;
  readonly sideEffects: boolean;
  readonly reviewVersions: boolean;
  readonly names: boolean;
  readonly selectors: boolean;
}

const STRICT: Strictness = { conditions: true, sideEffects: true, reviewVersions: true, names: true, selectors: true };
const REVIEW_VERSIONS = ["v1", "v1beta1"];
const HARMLESS = ["None", "NoneOnDryRun"];
const SIDE_EFFECTS = ["None", "NoneOnDryRun", "Some", "Unknown"];

/** Configurations of webhooks of both kinds. */
export const webhookConfiguration: Strategy = {
  validate: (object) => configurationErrors(hooksOf(object), STRICT),
  validateChange: (object, old) => configurationErrors(hooksOf(object), strictnessOf(hooksOf(object), hooksOf(old))),
};

function hooksOf(object: WorkingObject): readonly Webhook[] {
  return (object["webhooks"] ?? []) as Webhook[];
}

function strictnessOf(now: readonly Webhook[], before: readonly Webhook[]): Strictness {
  const conditions = (hooks: readonly Webhook[]) => hooks.map(({ matchConditions = [] }) => matchConditions);
  const names = before.map(({ name }) => name);
  return {
    conditions: !deepEqual(conditions(now), conditions(before)),
    sideEffects: before.every(({ sideEffects }) => HARMLESS.includes(sideEffects ?? "")),
    reviewVersions: before.every(
      ({ admissionReviewVersions: versions }) => !versions?.length || versions.some(isKnown),
    ),
    names: new Set(names).size === names.length,
    selectors: before.every((hook) => selectorErrors(hook, "").length === 0),
  };
}

function isKnown(version: string): boolean {
  return REVIEW_VERSIONS.includes(version);
}

function configurationErrors(hooks: readonly Webhook[], strict: Strictness): FieldError[] {
  const listed = new Set<string>();
  return hooks.flatMap((hook, index) => {
    const at = `webhooks[${index}]`;
    const { name = "", admissionReviewVersions } = hook;
    const errors = [
      ...webhookErrors(hook, at, strict),
      ...reviewVersionErrors(admissionReviewVersions ?? [], `${at}.admissionReviewVersions`, strict.reviewVersions),
    ];
    if (strict.names && name !== "" && listed.has(name)) errors.push(duplicate(`${at}.name`, name));
    listed.add(name);
    return errors;
  });
}

function webhookErrors(hook: Webhook, field: string, strict: Strictness): FieldError[] {
  const { name = "", rules = [], sideEffects, timeoutSeconds, clientConfig = {}, matchConditions = [] } = hook;
  const errors = qualifiedErrors(name, `${field}.name`);
  rules.forEach((rule, index) => {
    append(errors, ruleErrors(rule, `${field}.rules[${index}]`));
  });
  append(errors, optionallyOneOf(`${field}.failurePolicy`, hook.failurePolicy, FAILURE_POLICIES));
  append(errors, optionallyOneOf(`${field}.matchPolicy`, hook.matchPolicy, MATCH_POLICIES));
  const allowed = strict.sideEffects ? HARMLESS : SIDE_EFFECTS;
  if (!sideEffects) {
    errors.push(required(`${field}.sideEffects`, `must specify one of ${allowed.join(", ")}`));
  } else if (!allowed.includes(sideEffects)) errors.push(notSupported(`${field}.sideEffects`, sideEffects, allowed));
  if (timeoutSeconds !== undefined && (timeoutSeconds > 30 || timeoutSeconds < 1)) {
    const detail = "the timeout value must be between 1 and 30 seconds";
    errors.push(invalidValue(`${field}.timeoutSeconds`, timeoutSeconds, detail));
  }
  if (strict.selectors) append(errors, selectorErrors(hook, field));
  append(errors, optionallyOneOf(`${field}.reinvocationPolicy`, hook.reinvocationPolicy, REINVOCATION_POLICIES));
  append(errors, clientErrors(clientConfig, `${field}.clientConfig`));
  if (strict.conditions) append(errors, conditionErrors(matchConditions, `${field}.matchConditions`));
  return errors;
}

function selectorErrors({ namespaceSelector, objectSelector }: Webhook, field: string): FieldError[] {
  return [
    ...(namespaceSelector ? labelSelectorErrors(namespaceSelector, `${field}.namespaceSelector`) : []),
    ...(objectSelector ? labelSelectorErrors(objectSelector, `${field}.objectSelector`) : []),
  ];
}

function qualifiedErrors(name: string, field: string): FieldError[] {
  if (name === "") return [required(field)];
  const problems = dns1123SubdomainErrors(name);
  if (problems.length > 0) return [invalidValue(field, name, problems.join(","))];
  if (name.split(".").length >= 3) return [];
  return [invalidValue(field, name, "should be a domain with at least three segments separated by dots")];
}

function reviewVersionErrors(versions: readonly string[], field: string, strict: boolean): FieldError[] {
  if (versions.length === 0) return [required(field, `must specify one of ${REVIEW_VERSIONS.join(", ")}`)];
  const errors: FieldError[] = versions.flatMap((version, index) => {
    if (versions.indexOf(version) < index) return [invalidValue(`${field}[${index}]`, version, "duplicate version")];
    return dns1035LabelErrors(version).map((detail) => invalidValue(`${field}[${index}]`, version, detail));
  });
  if (strict && !versions.some(isKnown)) {
    errors.push(invalidValue(field, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`));
  }
  return errors;
}
