import {
  CelEnvironment,
  type CelEnvironmentOptions,
  MATCH_CONDITIONS_BUDGET,
  type PolicyActivation,
  type PolicyExpression,
} from "@konverge/schema/cel";
import { admissionRequest } from "./admission-review.ts";
import type { AdmissionAttributes } from "./attributes.ts";
import { type Matched, namespaceOf } from "./resource-match.ts";

/** A named expression that a request has to meet. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** Whether a request meets all conditions; an error where one could not be evaluated and none is unmet. */
export type ConditionsResult = { readonly matches: boolean; readonly error?: string };

/** Compiled environments and expressions of one configuration, made when they are first needed. */
export class Expressions {
  readonly environment: CelEnvironment;
  readonly #compiled = new Map<string, PolicyExpression>();

  constructor(options: CelEnvironmentOptions) {
    this.environment = new CelEnvironment(options);
  }

  compile(expression: string, purpose: Parameters<CelEnvironment["compile"]>[1]): PolicyExpression {
    const key = `${purpose} ${expression}`;
    let compiled = this.#compiled.get(key);
    if (!compiled) {
      compiled = this.environment.compile(expression, purpose);
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }

  /** What expressions see of a request. */
  activate(
    attributes: AdmissionAttributes,
    matched: Matched,
    objects: PolicyObjects,
    params?: unknown,
  ): PolicyActivation {
    const { call, namespace, name, subresource } = attributes;
    return this.environment.activate({
      object: objects.object,
      oldObject: objects.old,
      request: admissionRequest(attributes, matched, ""),
      namespaceObject: namespaceOf(attributes),
      params,
      authorization: {
        user: call.user,
        resource: { group: matched.group, resource: matched.resource, subresource, namespace, name },
        decide: ({ user, verb, path = "", resource }) =>
          call.authorize(
            { ...user, groups: user.groups ?? [] },
            resource
              ? { ...resource, isResource: true, verb, path: "" }
              : { isResource: false, verb, path, group: "", resource: "", subresource: "", namespace: "", name: "" },
          ),
      },
    });
  }

  /** Asks the conditions: one that is unmet decides, whatever errors the others have. */
  conditions(conditions: readonly MatchCondition[], activation: PolicyActivation): ConditionsResult {
    let budget = MATCH_CONDITIONS_BUDGET;
    let problem: string | undefined;
    for (const { expression } of conditions) {
      const result = activation.evaluate(this.compile(expression, "condition"), budget);
      budget = result.budget;
      if (result.value === false) return { matches: false };
      if (result.error !== undefined) problem ??= result.error;
      if (budget < 0) break;
    }
    return problem === undefined ? { matches: true } : { matches: true, error: problem };
  }
}

interface PolicyObjects {
  readonly object: unknown;
  readonly old: unknown;
}
