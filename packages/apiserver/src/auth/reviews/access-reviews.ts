import { type AnyObject, badRequest, type FieldRequirement, parseFieldSelector } from "@konverge/core";
import { type Attributes, pathAttributes, resourceAttributes } from "../attributes.ts";
import { type Authorizer, aggregate } from "../rbac/authorizer.ts";
import { roleNotFound } from "../rbac/role-index.ts";
import { nodeIdentity, type User } from "../user.ts";
import { type CheckedReview, type ReviewError, refuse } from "./review-errors.ts";
import { evaluationError, type SelectorAttributes, selectorErrors } from "./review-selectors.ts";

const NODE_RULES_UNKNOWN = "node authorizer does not support user rule resolution";

/** What an access review asks about. */
interface AccessSpec {
  resourceAttributes?: {
    verb?: string;
    group?: string;
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
    fieldSelector?: SelectorAttributes;
    labelSelector?: SelectorAttributes;
  };
  nonResourceAttributes?: { path?: string; verb?: string };
  user?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

interface AccessReview extends AnyObject {
  spec: AccessSpec;
}

/** Answers a SubjectAccessReview: may this user do that? */
export function reviewSubjectAccess(authorizer: Authorizer, review: AnyObject): CheckedReview {
  const { spec } = asReview(review);
  refuse(review, [...specErrors(spec, true), ...metadataErrors(review, [])]);
  return () => answered(authorizer, review, subjectOf(spec), spec);
}

/** Answers a LocalSubjectAccessReview, which stays within one namespace. */
export function reviewLocalSubjectAccess(authorizer: Authorizer, review: AnyObject, namespace: string): CheckedReview {
  const { spec } = asReview(review);
  const { resourceAttributes: wanted, nonResourceAttributes: path } = spec;
  const errors = [...specErrors(spec, true), ...metadataErrors(review, ["namespace"])];
  const home = review.metadata?.namespace ?? "";
  if (wanted && (wanted.namespace ?? "") !== home) {
    const value = JSON.stringify(wanted.namespace ?? "");
    errors.push(["spec.resourceAttributes.namespace", `Invalid value: ${value}: must match metadata.namespace`]);
  }
  if (path) {
    errors.push(["spec.nonResourceAttributes", `Invalid value: ${pathText(path)}: disallowed on this kind of request`]);
  }
  refuse(review, errors);
  if (namespace !== home) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  return () => answered(authorizer, review, subjectOf(spec), spec);
}

/** Answers a SelfSubjectAccessReview: may I do that? */
export function reviewSelfAccess(authorizer: Authorizer, review: AnyObject, user: User): CheckedReview {
  const { spec } = asReview(review);
  refuse(review, [...specErrors(spec, false), ...metadataErrors(review, [])]);
  return () => answered(authorizer, review, user, spec);
}

/** Answers a SelfSubjectRulesReview: what may I do in this namespace? */
export function reviewSelfRules(authorizer: Authorizer, review: AnyObject, user: User): CheckedReview {
  const { namespace } = (review["spec"] ?? {}) as { namespace?: string };
  if (!namespace) throw badRequest("no namespace on request");
  return () => ownRules(authorizer, review, user, namespace);
}

function ownRules(authorizer: Authorizer, review: AnyObject, user: User, namespace: string): AnyObject {
  const { rules, missing } = authorizer.rulesFor(user, namespace);
  const isNode = nodeIdentity(user) !== undefined;
  const errors = [...(isNode ? [new Error(NODE_RULES_UNKNOWN)] : []), ...missing.map(roleNotFound)];
  const error = errors.length > 0 && aggregate(errors);
  const resourceRules = rules
    .filter(({ resources }) => resources?.length)
    .map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      ...(apiGroups?.length && { apiGroups }),
      resources,
      ...(resourceNames?.length && { resourceNames }),
    }));
  const nonResourceRules = rules
    .filter(({ nonResourceURLs }) => nonResourceURLs?.length)
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  return {
    kind: "SelfSubjectRulesReview",
    apiVersion: review.apiVersion,
    metadata: {} as AnyObject["metadata"],
    spec: {},
    status: { resourceRules, nonResourceRules, incomplete: isNode, ...(error && { evaluationError: error }) },
  };
}

function answered(authorizer: Authorizer, review: AnyObject, user: User, spec: AccessSpec): AnyObject {
  const { allowed, reason } = authorizer.authorize(user, actionOf(spec));
  const { fieldSelector, labelSelector } = spec.resourceAttributes ?? {};
  const error = evaluationError(fieldSelector, labelSelector);
  return {
    ...review,
    status: { allowed, ...(reason !== "" && { reason }), ...(error !== "" && { evaluationError: error }) },
  };
}

function asReview(review: AnyObject): AccessReview {
  return { ...review, spec: (review["spec"] ?? {}) as AccessSpec };
}

function subjectOf({ user = "", uid, groups = [], extra }: AccessSpec): User {
  return { name: user, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

function actionOf({ resourceAttributes: wanted, nonResourceAttributes: path }: AccessSpec): Attributes {
  if (!wanted) return pathAttributes(path?.verb ?? "", path?.path ?? "");
  const { verb = "", group, resource, subresource, namespace, name } = wanted;
  const given = Object.entries({ group, resource, subresource, namespace, name, fields: fieldsOf(wanted) });
  return resourceAttributes(verb, Object.fromEntries(given.filter(([, value]) => value !== undefined)));
}

/** The requirements on fields that can be understood; others widen the request, and are left out. */
function fieldsOf({ fieldSelector }: { fieldSelector?: SelectorAttributes }): FieldRequirement[] | undefined {
  if (!fieldSelector) return undefined;
  const { rawSelector, requirements = [] } = fieldSelector;
  if (rawSelector) {
    try {
      return parseFieldSelector(rawSelector);
    } catch {
      return undefined;
    }
  }
  return requirements.flatMap(({ key = "", operator, values = [] }): FieldRequirement[] => {
    if (values.length !== 1 || (operator !== "In" && operator !== "NotIn")) return [];
    return [{ field: key, operator: operator === "In" ? "=" : "!=", value: values[0]! }];
  });
}

function specErrors(spec: AccessSpec, needsSubject: boolean): ReviewError[] {
  const { resourceAttributes: wanted, nonResourceAttributes: path, user, groups } = spec;
  const errors: ReviewError[] = [];
  if (wanted && path) {
    const why = "cannot be specified in combination with resourceAttributes";
    errors.push(["spec.nonResourceAttributes", `Invalid value: ${pathText(path)}: ${why}`]);
  }
  if (!wanted && !path) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.push(["spec.resourceAttributes", `Invalid value: null: ${why}`]);
  }
  if (needsSubject && !user && !groups?.length) {
    errors.push(["spec.user", 'Invalid value: "": at least one of user or group must be specified']);
  }
  return [
    ...errors,
    ...selectorErrors(wanted?.fieldSelector, "spec.resourceAttributes.fieldSelector"),
    ...selectorErrors(wanted?.labelSelector, "spec.resourceAttributes.labelSelector"),
  ];
}

function metadataErrors({ metadata }: AnyObject, allowed: readonly string[]): ReviewError[] {
  // Up to Kubernetes 1.33, an object without creationTimestamp has null there.
  const given = Object.entries(metadata ?? {})
    .filter(([name, value]) => value !== null && name !== "managedFields" && !allowed.includes(name))
    .map(([name]) => name);
  if (given.length === 0) return [];
  const rule = allowed.length === 0 ? "must be empty" : `must be empty except for ${allowed.join(", ")}`;
  const { name, generateName, namespace, ...others } = metadata ?? {};
  const shown = JSON.stringify({ name, generateName, namespace, ...others });
  return [["metadata", `Invalid value: ${shown}: ${rule}`]];
}

/** The real server shows its own field names here. */
function pathText({ path = "", verb = "" }: { path?: string; verb?: string }): string {
  return JSON.stringify({ Path: path, Verb: verb });
}
