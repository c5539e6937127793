import { deepEqual, type FieldError, qualifiedNameErrors, quoted, splitSimplePath, valueAt } from "@konverge/core";
import { blockedRules, NO_PATH, validateValue } from "@konverge/schema";
import { validateRules } from "@konverge/schema/cel";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Strategy, StrategyCall } from "../resources/definition.ts";
import type { CustomResourceDefinition } from "./custom-resource-definition.ts";

/** What custom resources have in common: all that is special about one of them is in its schema. */
export function instanceStrategy(crd: CustomResourceDefinition): Strategy {
  const selectable = new Set(
    crd.spec.versions.flatMap(({ selectableFields }) => (selectableFields ?? []).map(({ jsonPath }) => jsonPath)),
  );
  const hasStatus = crd.spec.versions.some(({ subresources }) => subresources?.status !== undefined);
  return {
    hasGeneration: true,
    validate(object, { call }) {
      const { schema, scale } = call.version;
      return validateValue(schema, object, { ...(scale && { scale }) });
    },
    validateChange(object, old, { call }) {
      const { schema, scale } = call.version;
      return validateValue(schema, object, { old, ...(scale && { scale }), warn: call.warn });
    },
    validateStatusUpdate(object, old, { call }) {
      return statusErrors(call, object, old);
    },
    warnings(object, { subresource }, old) {
      if (subresource !== "") return [];
      const known = new Set(old?.metadata.finalizers ?? []);
      const added = (object.metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
      return [...new Set(added)].sort().flatMap(finalizerWarnings);
    },
    // An update of the status does not change metadata.
    ...(hasStatus && { resetFields: (subresource) => (subresource === "status" ? ["metadata", "spec"] : ["status"]) }),
    fields(object) {
      const fields: Record<string, string> = {};
      for (const path of selectable) {
        const value = valueAt(object, splitSimplePath(path));
        if (value !== undefined && value !== null) fields[path.replace(/^\./, "")] = String(value);
      }
      return fields;
    },
  };
}

/** Only the status is judged by the schema, but rules see the whole object. */
function statusErrors({ version, warn }: StrategyCall, object: WorkingObject, old: WorkingObject): FieldError[] {
  const { schema } = version;
  const { status } = object;
  const before = old["status"];
  const ofStatus = schema.properties?.["status"];
  const errors =
    ofStatus && status !== undefined
      ? validateValue(ofStatus, status, { path: "status", ...(before !== undefined && { old: before }) })
      : [];
  if (errors.some(({ field }) => field === NO_PATH)) return errors;
  const blocked = blockedRules(errors);
  if (blocked) return [...errors, blocked];
  const { errors: broken, warnings } = validateRules(schema, object, old, { ratcheting: true });
  for (const warning of warnings) warn(warning);
  return [...errors, ...broken.filter((one) => !errors.some((other) => deepEqual(one, other)))];
}

const STANDARD_FINALIZERS = ["orphan", "foregroundDeletion", "kubernetes"];

function finalizerWarnings(finalizer: string): string[] {
  const where = `metadata.finalizers: ${quoted(finalizer)}`;
  const warnings = qualifiedNameErrors(finalizer).map((error) => `${where}: ${error}`);
  if (!finalizer.includes("/") && !STANDARD_FINALIZERS.includes(finalizer)) {
    const how = finalizer.includes(".") ? " including a path (/)" : "";
    warnings.push(
      `${where}: prefer a domain-qualified finalizer name${how} to avoid accidental conflicts with other finalizer writers`,
    );
  }
  return warnings;
}
