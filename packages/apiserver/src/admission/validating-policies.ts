import { ApiError } from "@konverge/core";
import { POLICY_BUDGET, type PolicyActivation } from "@konverge/schema/cel";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "./attributes.ts";
import { type BoundPolicy, bindingConstraints, boundPolicies, constraintsOf, type PolicySpec } from "./policies.ts";
import { paramsOf } from "./policy-params.ts";
import { inVersion, matchResource } from "./resource-match.ts";

interface ValidatingSpec extends PolicySpec {
  readonly validations?: readonly Validation[];
}

interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

interface Denied {
  readonly message: string;
  readonly reason?: string | undefined;
}

const POLICIES = "admissionregistration.k8s.io/validatingadmissionpolicies";
const BINDINGS = "admissionregistration.k8s.io/validatingadmissionpolicybindings";

const CODES: Record<string, number> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 };

/** ValidatingAdmissionPolicies: what their bindings deny is refused, what they warn about is said. */
export const validatingPolicies: AdmissionPlugin = {
  name: "ValidatingAdmissionPolicy",
  handles: ({ call }) => call.store.collection(BINDINGS).size > 0,
  async validate(attributes) {
    let first: { policy: string; binding?: string; denied: Denied } | undefined;
    for (const policy of boundPolicies<ValidatingSpec>(attributes.call, POLICIES, BINDINGS)) {
      for (const { binding, actions, denied } of await decisions(attributes, policy)) {
        if (actions.includes("Warn")) {
          const about = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding}'`;
          attributes.call.warn(`Validation failed for ${about}: ${denied.message}`);
        }
        if (actions.includes("Deny")) first ??= { policy: policy.name, binding, denied };
      }
    }
    if (!first) return;
    const { policy, binding, denied } = first;
    const message = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${denied.message}`;
    const reason = denied.reason || "Invalid";
    const { status } = refusal(attributes, message);
    const details = { ...status.details, causes: [{ message }] };
    throw new ApiError({ ...status, reason, code: CODES[reason] ?? 422, details });
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
    }
  }
  return found;
}

function failures({ spec, expressions }: BoundPolicy<ValidatingSpec>, activation: PolicyActivation): Denied[] {
  const found: Denied[] = [];
  let budget = POLICY_BUDGET;
  for (const validation of spec.validations ?? []) {
    const result = activation.evaluate(expressions.compile(validation.expression, "condition"), budget);
    budget = result.budget;
    if (result.error !== undefined) {
      if (spec.failurePolicy !== "Ignore") found.push({ message: result.error });
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
    found.push({ message, reason: validation.reason });
  }
  return found;
}
