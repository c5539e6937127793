import { ApiError, deepCopy, deepEqual } from "@konverge/core";
import { applyConfigurationOf, jsonPatchOf, POLICY_BUDGET } from "@konverge/schema/cel";
import { applyJsonPatch } from "@konverge/schema/patch";
import { requestVersion } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { convertTo } from "../resources/stored-object.ts";
import { withFieldManager } from "../verbs/managed-fields.ts";
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

const NAME = "MutatingAdmissionPolicy";

/** One policy with one binding and one parameter. */
interface Invocation {
  readonly key: string;
  readonly policy: BoundPolicy<MutatingSpec>;
  readonly binding: string;
  readonly matched: Matched;
  readonly param: WorkingObject | undefined;
}

/** MutatingAdmissionPolicies with their bindings and parameters, one after the other. */
export const mutatingPolicies: AdmissionPlugin = {
  name: NAME,
  handles: (attributes) => attributes.object !== undefined && isPoliced(attributes, BINDINGS),
  async mutate(attributes) {
    const denials: Denial[] = [];
    const report: Report = ({ name, spec }, binding, why, reason) => {
      if (spec.failurePolicy === "Ignore") return;
      denials.push({ message: `policy '${name}' with binding '${binding}' denied request: ${why}`, reason });
    };
    const invocations = await invocationsOf(attributes, report);
    const callouts = attributes.reinvocation.calloutsOf(NAME);
    if (invocations.length > 0) callouts.begin(attributes.object);
    let isPatched = false;
    for (const invocation of invocations) {
      const { key, policy, binding } = invocation;
      try {
        if (!(await meetsConditions(attributes, invocation)) || !callouts.takesPart(key)) continue;
      } catch (error) {
        report(policy, binding, messageOf(error), "Invalid");
        continue;
      }
      const before = attributes.object;
      for (const mutation of policy.spec.mutations ?? []) {
        try {
          await mutate(attributes, invocation, mutation);
          isPatched = true;
        } catch (error) {
          report(policy, binding, messageOf(error), "Invalid");
        }
      }
      if (!deepEqual(before, attributes.object)) callouts.changed();
      callouts.ran(key, policy.spec.reinvocationPolicy);
    }
    // Unlike a webhook's, a mutation counts as a change even if it left the object as it was.
    if (isPatched) callouts.changed();
    if (invocations.length > 0) callouts.end(attributes.object);
    if (denials.length > 0) throw denialError(attributes, denials);
  },
};

interface Denial {
  readonly message: string;
  readonly reason: string;
}

type Report = (policy: BoundPolicy<MutatingSpec>, binding: string, why: string, reason: string) => void;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** All that the object matches as it is before the first of them changes it. */
async function invocationsOf(attributes: AdmissionAttributes, report: Report): Promise<Invocation[]> {
  const found: Invocation[] = [];
  for (const policy of boundPolicies<MutatingSpec>(attributes.call, POLICIES, BINDINGS, { patchTypes: true })) {
    const { spec, bindings } = policy;
    const matched = matchResource(attributes, constraintsOf(spec.matchConstraints));
    if (!matched) continue;
    for (const binding of bindings) {
      if (!matchResource(attributes, bindingConstraints(binding.spec.matchResources))) continue;
      try {
        for (const param of await paramsOf(attributes, spec.paramKind, binding.spec.paramRef)) {
          const { namespace = "", name = "" } = param?.metadata ?? {};
          const key = [policy.name, binding.name, namespace, name].join("/");
          found.push({ key, policy, binding: binding.name, matched, param });
        }
      } catch (error) {
        report(policy, binding.name, `failed to configure binding: ${messageOf(error)}`, "Forbidden");
      }
    }
  }
  return found;
}

async function meetsConditions(
  attributes: AdmissionAttributes,
  { policy, matched, param }: Invocation,
): Promise<boolean> {
  const { expressions, spec } = policy;
  const activation = expressions.activate(attributes, matched, await inVersion(attributes, matched), param);
  const { matches, error } = expressions.conditions(spec.matchConditions ?? [], activation);
  if (matches && error !== undefined) throw new Error(error);
  return matches;
}

function denialError(attributes: AdmissionAttributes, denials: readonly Denial[]): ApiError {
  const { message, reason } = denials[0]!;
  const { status } = refusal(attributes, message);
  const causes = denials.map((denial) => ({ message: denial.message }));
  return new ApiError({ ...status, message, reason, details: { ...status.details, causes } });
}

function patched(object: WorkingObject, operations: Parameters<typeof applyJsonPatch>[1]): unknown {
  try {
    return applyJsonPatch(deepCopy(object) as never, operations);
  } catch (error) {
    if (!(error instanceof ApiError) || !(error.cause instanceof Error)) throw error;
    // A test that fails is how a policy says that its patch is not for this object.
    if (error.cause.message.endsWith(": test failed")) return object;
    throw new Error(`JSON Patch: ${error.cause.message}`);
  }
}

async function mutate(
  attributes: AdmissionAttributes,
  { policy: { expressions }, matched, param }: Invocation,
  mutation: MutationSpec,
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
