import type { LabelSelector } from "@konverge/core";
import type { Call } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { AdmissionAttributes } from "./attributes.ts";
import { configurationsIn } from "./configurations.ts";
import { Expressions, type MatchCondition } from "./expressions.ts";
import type { ParamKind, ParamRef } from "./policy-params.ts";
import type { ResourceMatch, Rule } from "./resource-match.ts";

/** What both kinds of policies have in common. */
export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly failurePolicy?: string;
}

export interface BindingSpec {
  readonly policyName: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly string[];
}

interface MatchResources {
  readonly resourceRules?: readonly Rule[];
  readonly excludeResourceRules?: readonly Rule[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

/** A policy with its compiled expressions and its bindings. */
export interface BoundPolicy<Spec extends PolicySpec> {
  readonly name: string;
  readonly spec: Spec;
  readonly expressions: Expressions;
  readonly bindings: readonly { readonly name: string; readonly spec: BindingSpec }[];
}

/** Questions about users: no policy is asked about them, or it could lock all users out. */
const UNPOLICED: Readonly<Record<string, readonly string[]>> = {
  "authentication.k8s.io": ["selfsubjectreviews", "tokenreviews"],
  "authorization.k8s.io": [
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
  ],
};

/** Whether policies are asked about a write: there are some, and it is none that they never see. */
export function isPoliced({ call, group, resource }: AdmissionAttributes, bindings: string): boolean {
  return call.store.collection(bindings).size > 0 && !UNPOLICED[group]?.includes(resource);
}

/** All policies of one kind that are bound to anything. */
export function boundPolicies<Spec extends PolicySpec>(
  call: Call,
  policies: string,
  bindings: string,
  options: { patchTypes?: boolean } = {},
): BoundPolicy<Spec>[] {
  const named = <S>(object: WorkingObject) => ({ name: object.metadata.name, spec: object["spec"] as S });
  const byPolicy = Map.groupBy(configurationsIn(call, bindings, named<BindingSpec>), ({ spec }) => spec.policyName);
  return configurationsIn(call, policies, (object) => {
    const { name, spec } = named<Spec>(object);
    const { paramKind, variables = [] } = spec;
    return {
      name,
      spec,
      expressions: new Expressions({ params: !!paramKind, authorizer: true, variables, ...options }),
    };
  }).flatMap((policy) => {
    const bound = byPolicy.get(policy.name);
    return bound ? [{ ...policy, bindings: bound }] : [];
  });
}

/** The same question as a webhook's rules ask. */
export function constraintsOf(match: MatchResources | undefined): ResourceMatch {
  const { resourceRules, excludeResourceRules, ...rest } = match ?? {};
  return {
    ...rest,
    ...(resourceRules && { rules: resourceRules }),
    ...(excludeResourceRules && { excludeRules: excludeResourceRules }),
  };
}

const EVERYTHING: Rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*", "*/*"] };

/** What a binding narrows its policy to: without rules only by its selectors. */
export function bindingConstraints(match: MatchResources | undefined): ResourceMatch {
  const constraints = constraintsOf(match);
  return constraints.rules?.length ? constraints : { ...constraints, rules: [EVERYTHING] };
}
