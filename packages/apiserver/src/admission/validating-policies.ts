import { ApiError, own } from "@konverge/core";
import { POLICY_BUDGET, type PolicyActivation } from "@konverge/schema/cel";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "./attributes.ts";
import {
  type BoundPolicy,
  bindingConstraints,
  boundPolicies,
  constraintsOf,
  isPoliced,
  type PolicySpec,
} from "./policies.ts";
import { paramsOf } from "./policy-params.ts";
import { inVersion, matchResource } from "./resource-match.ts";

interface ValidatingSpec extends PolicySpec {
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
}

interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

interface Denied {
  readonly message: string;
  /** Which of the policy's expressions it was. */
  readonly index?: number;
  readonly reason?: string | undefined;
}

const POLICIES = "admissionregistration.k8s.io/validatingadmissionpolicies";
const BINDINGS = "admissionregistration.k8s.io/validatingadmissionpolicybindings";

/** Under what name an audit event says what policies found wrong and let pass. */
const FAILURES = "validation.policy.admission.k8s.io/validation_failure";

const CODES: Record<string, number> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 };

/** ValidatingAdmissionPolicies: what their bindings deny is refused, what they warn about is said. */
export const validatingPolicies: AdmissionPlugin = {
  name: "ValidatingAdmissionPolicy",
  handles: (attributes) => isPoliced(attributes, BINDINGS),
  async validate(attributes) {
    const audited: object[] = [];
    let first: { policy: string; binding?: string; denied: Denied } | undefined;
    for (const policy of boundPolicies<ValidatingSpec>(attributes.call, POLICIES, BINDINGS)) {
      for (const { binding, actions, denied } of await decisions(attributes, policy)) {
        if (actions.includes("Warn")) {
          const about = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding}'`;
          attributes.call.warn(`Validation failed for ${about}: ${denied.message}`);
        }
        if (actions.includes("Audit")) {
          const { message, index = 0 } = denied;
          const found = { message, policy: policy.name, binding, expressionIndex: index, validationActions: actions };
          audited.push(found);
        }
        if (actions.includes("Deny")) first ??= { policy: policy.name, binding, denied };
      }
    }
    if (audited.length > 0) attributes.call.annotate?.(FAILURES, JSON.stringify(audited));
    if (!first) return;
    const { policy, binding, denied } = first;
    const message = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${denied.message}`;
    const reason = denied.reason || "Invalid";
    const { status } = refusal(attributes, message);
    const details = { ...status.details, causes: [{ message }] };
    throw new ApiError({ ...status, reason, code: own(CODES, reason) ?? 422, details });
  },
};

interface Decision {
  readonly binding: string;
  readonly actions: readonly string[];
  readonly denied: Denied;
}

async function decisions(attributes: AdmissionAttributes, policy: BoundPolicy<ValidatingSpec>): Promise<Decision[]> {
  const { spec, expressions, bindings } = policy;
  const matched = matchResource(attributes, constraintsOf(spec.matchConstraints));
  if (!matched) return [];
  const objects = await inVersion(attributes, matched);
  const found: Decision[] = [];
  for (const binding of bindings) {
    if (!matchResource(attributes, bindingConstraints(binding.spec.matchResources))) continue;
    const actions = binding.spec.validationActions ?? [];
    const deny = (denied: Denied) => found.push({ binding: binding.name, actions, denied });
    let params: unknown[];
    try {
      params = await paramsOf(attributes, spec.paramKind, binding.spec.paramRef);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (spec.failurePolicy !== "Ignore") {
        found.push({
          binding: binding.name,
          actions: ["Deny"],
          denied: { message: `failed to configure binding: ${why}` },
        });
      }
      continue;
    }
    for (const param of params) {
      const activation = expressions.activate(attributes, matched, objects, param);
      const { matches, error } = expressions.conditions(spec.matchConditions ?? [], activation);
      if (!matches) continue;
      if (error !== undefined) {
        if (spec.failurePolicy !== "Ignore") deny({ message: error });
        continue;
      }
      for (const denied of failures(policy, activation)) deny(denied);
      annotate(attributes, policy, activation);
    }
  }
  return found;
}

function failures({ spec, expressions }: BoundPolicy<ValidatingSpec>, activation: PolicyActivation): Denied[] {
  const found: Denied[] = [];
  let budget = POLICY_BUDGET;
  for (const [index, validation] of (spec.validations ?? []).entries()) {
    const result = activation.evaluate(expressions.compile(validation.expression, "condition"), budget);
    budget = result.budget;
    if (result.error !== undefined) {
      if (spec.failurePolicy !== "Ignore") found.push({ message: result.error, index });
      if (budget < 0) return found;
      continue;
    }
    if (result.value === true) continue;
    let message = validation.message?.trim() || `failed expression: ${validation.expression.trim()}`;
    if (validation.messageExpression) {
      const said = activation.evaluate(expressions.compile(validation.messageExpression, "message"), budget);
      budget = said.budget;
      const text = typeof said.value === "string" ? said.value.trim() : "";
      if (text !== "" && !text.includes("\n") && text.length <= 5 * 1024) message = text;
    }
    found.push({ message, reason: validation.reason, index });
  }
  return found;
}

/** What a policy wants to have written down about a request. */
function annotate(
  { call }: AdmissionAttributes,
  { name, spec, expressions }: BoundPolicy<ValidatingSpec>,
  activation: PolicyActivation,
): void {
  for (const { key, valueExpression } of spec.auditAnnotations ?? []) {
    const { value } = activation.evaluate(
      expressions.compile(valueExpression.trim(), "auditAnnotation"),
      POLICY_BUDGET,
    );
    if (typeof value === "string" && value !== "") call.annotate?.(`${name}/${key}`, value);
  }
}
