import { ApiError, deepCopy } from "@konverge/core";
import { applyConfigurationOf, jsonPatchOf, POLICY_BUDGET } from "@konverge/schema/cel";
import { applyJsonPatch } from "@konverge/schema/patch";
import type { WorkingObject } from "../codec/working-object.ts";
import { convertTo, requestVersion } from "../verbs/call.ts";
import { withFieldManager } from "../verbs/managed-fields.ts";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "./attributes.ts";
import { type BoundPolicy, bindingConstraints, boundPolicies, constraintsOf, type PolicySpec } from "./policies.ts";
import { paramsOf } from "./policy-params.ts";
import { inVersion, type Matched, matchResource } from "./resource-match.ts";

interface MutatingSpec extends PolicySpec {
  readonly reinvocationPolicy?: string;
  readonly mutations?: readonly MutationSpec[];
}

interface MutationSpec {
  readonly patchType?: string;
  readonly applyConfiguration?: { readonly expression: string };
  readonly jsonPatch?: { readonly expression: string };
}

const POLICIES = "admissionregistration.k8s.io/mutatingadmissionpolicies";
const BINDINGS = "admissionregistration.k8s.io/mutatingadmissionpolicybindings";

/** MutatingAdmissionPolicies: their bindings one after the other, and once more where a later one changed the object. */
export const mutatingPolicies: AdmissionPlugin = {
  name: "MutatingAdmissionPolicy",
  handles: ({ call, object }) => object !== undefined && call.store.collection(BINDINGS).size > 0,
  async mutate(attributes) {
    const policies = boundPolicies<MutatingSpec>(attributes.call, POLICIES, BINDINGS, { patchTypes: true });
    const seen = new Map<string, string>();
    for (const round of ["first", "again"]) {
      for (const policy of policies) {
        if (round === "again") {
          const before = seen.get(policy.name);
          const wanted = policy.spec.reinvocationPolicy === "IfNeeded";
          if (!wanted || before === undefined || before === JSON.stringify(attributes.object)) continue;
        }
        if (await applyPolicy(attributes, policy)) seen.set(policy.name, JSON.stringify(attributes.object));
      }
    }
  },
};

async function applyPolicy(attributes: AdmissionAttributes, policy: BoundPolicy<MutatingSpec>): Promise<boolean> {
  const { spec, expressions, bindings, name } = policy;
  const matched = matchResource(attributes, constraintsOf(spec.matchConstraints));
  if (!matched) return false;
  for (const binding of bindings) {
    if (!matchResource(attributes, bindingConstraints(binding.spec.matchResources))) continue;
    try {
      for (const param of await paramsOf(attributes, spec.paramKind, binding.spec.paramRef)) {
        const start = await inVersion(attributes, matched);
        const { matches, error } = expressions.conditions(
          spec.matchConditions ?? [],
          expressions.activate(attributes, matched, start, param),
        );
        if (!matches) continue;
        if (error !== undefined) throw new Error(error);
        for (const mutation of spec.mutations ?? []) await mutate(attributes, policy, matched, mutation, param);
      }
    } catch (error) {
      if (spec.failurePolicy === "Ignore") continue;
      const why = error instanceof Error ? error.message : String(error);
      throw denial(attributes, `policy '${name}' with binding '${binding.name}' denied request: ${why}`);
    }
  }
  return true;
}

function denial(attributes: AdmissionAttributes, message: string): ApiError {
  const { status } = refusal(attributes, message);
  return new ApiError({ ...status, message, reason: "Invalid", details: { ...status.details, causes: [{ message }] } });
}

function patched(object: WorkingObject, operations: Parameters<typeof applyJsonPatch>[1]): unknown {
  try {
    return applyJsonPatch(deepCopy(object) as never, operations);
  } catch (error) {
    if (!(error instanceof ApiError) || !(error.cause instanceof Error)) throw error;
    throw new Error(`JSON Patch: ${error.cause.message}`);
  }
}

async function mutate(
  attributes: AdmissionAttributes,
  { expressions }: BoundPolicy<MutatingSpec>,
  matched: Matched,
  mutation: MutationSpec,
  param: unknown,
): Promise<void> {
  const { call } = attributes;
  const objects = await inVersion(attributes, matched);
  const activation = expressions.activate(attributes, matched, objects, param);
  const evaluate = (expression: string, purpose: "applyConfiguration" | "jsonPatch") => {
    const { value, error } = activation.evaluate(expressions.compile(expression, purpose), POLICY_BUDGET);
    if (error !== undefined || value === undefined) throw new Error(error ?? "the expression gave no value");
    return value;
  };
  const object = objects.object!;
  let changed: unknown;
  if (mutation.applyConfiguration) {
    const result = applyConfigurationOf(evaluate(mutation.applyConfiguration.expression, "applyConfiguration"));
    if (result.error !== undefined) throw new Error(result.error);
    changed = await merged(attributes, object, result.change);
  } else if (mutation.jsonPatch) {
    const result = jsonPatchOf(evaluate(mutation.jsonPatch.expression, "jsonPatch"));
    if (result.error !== undefined) throw new Error(result.error);
    changed = patched(object, result.change);
  } else return;
  const version = call.definition.versions.get(matched.version) ?? call.version;
  const { object: decoded } = version.codec.decode(changed);
  version.codec.applyDefaults(decoded);
  call.definition.strategy.defaults?.(decoded);
  attributes.object = await convertTo(call.definition, decoded, requestVersion(call));
}

/** Merges as server-side apply does, without leaving a trace in managedFields. */
async function merged(
  attributes: AdmissionAttributes,
  object: WorkingObject,
  configuration: Record<string, unknown>,
): Promise<WorkingObject> {
  const { managedFields, ...metadata } = object.metadata;
  const live = { ...object, metadata } as WorkingObject;
  const given = (configuration["metadata"] ?? {}) as object;
  const wanted = {
    ...configuration,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { ...given, name: object.metadata.name },
  } as WorkingObject;
  const result = (await withFieldManager(attributes.call, (fields) =>
    fields.apply(live, wanted, "mutating-admission-policy", { force: true }),
  )) as WorkingObject;
  const { managedFields: _unused, ...rest } = result.metadata;
  return { ...result, metadata: { ...rest, ...(managedFields && { managedFields }) } };
}
