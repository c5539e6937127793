import type { LabelSelector } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Call } from "../verbs/call.ts";
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

/** What a binding narrows its policy to: without rules of its own only by its selectors. */
export function bindingConstraints(match: MatchResources | undefined): ResourceMatch {
  const constraints = constraintsOf(match);
  return constraints.rules?.length ? constraints : { ...constraints, rules: [EVERYTHING] };
}
