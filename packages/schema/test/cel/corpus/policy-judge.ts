/** What expressions of policies are answered, by this implementation; test/real-policy-judge.ts asks a real API server. */
import { deepCopy, quoted } from "@konverge/core";
import { CelEnvironment, POLICY_BUDGET, type PolicyActivation } from "../../../src/cel/policy/environment.ts";
import { jsonPatchOf } from "../../../src/cel/policy/mutations.ts";
import { applyJsonPatch } from "../../../src/patch/json-patch.ts";
import { CONDITIONS, CONFIGURATIONS, OBJECT, PARAMS, PATCHES, VARIABLES } from "./policies.ts";

/** Everything that was answered about policies. */
export interface PolicyAnswers {
  /** Why an expression was refused, by the field it stands in. */
  refused: Record<PolicyField, Record<string, string>>;
  /** What conditions say that do not hold. */
  conditions: Record<string, string>;
  /** What the data of the object becomes; null where there is nothing to apply. */
  patched: Record<string, unknown>;
}

/** Where policies have expressions. */
export type PolicyField = "validations" | "applyConfiguration" | "jsonPatch";

/** What is asked of every field. */
export const QUESTIONS: Record<PolicyField, readonly string[]> = {
  validations: CONDITIONS,
  applyConfiguration: CONFIGURATIONS,
  jsonPatch: PATCHES,
};

/** A condition that never holds, to see when a policy has come into force. */
export const NEVER = "false";

/** The answers of this implementation. */
export function ownPolicyAnswers(): PolicyAnswers {
  const plain = new CelEnvironment({ params: true, authorizer: true, variables: VARIABLES });
  const patching = new CelEnvironment({ params: true, authorizer: true, patchTypes: true, variables: VARIABLES });
  const refusals = (environment: CelEnvironment, field: PolicyField) =>
    Object.fromEntries(
      QUESTIONS[field].flatMap((text) => {
        const { error } = environment.compile(text, field === "validations" ? "condition" : field);
        return error === undefined ? [] : [[text, `Invalid value: ${quoted(text)}: ${error}`]];
      }),
    );
  const refused = {
    validations: refusals(plain, "validations"),
    applyConfiguration: refusals(patching, "applyConfiguration"),
    jsonPatch: refusals(patching, "jsonPatch"),
  };
  const conditions: Record<string, string> = {};
  for (const text of CONDITIONS) {
    const condition = plain.compile(text, "condition");
    if (!condition.program) continue;
    const { value, error } = activate(plain).evaluate(condition, POLICY_BUDGET);
    if (value !== true) conditions[text] = error ?? `failed expression: ${text}`;
  }
  const patched: Record<string, unknown> = {};
  for (const text of PATCHES) if (refused.jsonPatch[text] === undefined) patched[text] = patchedData(patching, text);
  return { refused, conditions, patched };
}

function patchedData(environment: CelEnvironment, text: string): unknown {
  const { value } = activate(environment).evaluate(environment.compile(text, "jsonPatch"), POLICY_BUDGET);
  const mutation = value === undefined ? undefined : jsonPatchOf(value);
  if (!mutation || mutation.error !== undefined) return null;
  try {
    return applyJsonPatch(deepCopy(OBJECT), mutation.change).data;
  } catch {
    // A test that fails means that there is nothing to do.
    return OBJECT.data;
  }
}

function activate(environment: CelEnvironment): PolicyActivation {
  const groups = ["system:masters", "system:authenticated"];
  return environment.activate({
    object: OBJECT,
    params: PARAMS,
    namespaceObject: {
      metadata: { name: "default", uid: "1", labels: { "kubernetes.io/metadata.name": "default" } },
      status: { phase: "Active" },
    },
    request: {
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
      requestKind: { group: "", version: "v1", kind: "ConfigMap" },
      requestResource: { group: "", version: "v1", resource: "configmaps" },
      name: "judged",
      namespace: "default",
      operation: "CREATE",
      userInfo: { username: "admin", groups },
      dryRun: true,
    },
    authorization: {
      user: { name: "admin", groups },
      decide: ({ user }) => ({ allowed: user.groups?.includes("system:masters") === true }),
      resource: { group: "", resource: "configmaps", namespace: "default", name: "judged" },
    },
  });
}
