import type { Schema } from "@konverge/core";
import { applyDefaults } from "../structural/defaulting.ts";
import { addRule } from "./annotations.ts";
import type { VersionDefinition } from "./definition.ts";
import { DefinitionError } from "./definition-error.ts";
import { fieldOf } from "./zod-schema.ts";

/**
 * The status of an object that no controller has observed yet. Without it, tools that wait by kstatus' rules (Flux, Argo CD, kpt) take
 * a new object for one that is ready. A status that declares observedGeneration itself is not changed: others may write it.
 */
const NOT_OBSERVED = { observedGeneration: -1 } as const;

/**
 * The schema of a version's whole objects. So that the spec is there whenever its type says so, it is required; or, if
 * an empty one is valid, the default.
 */
export function objectSchema(version: VersionDefinition, description?: string): Schema {
  const { schema: spec, optional: isOptional } = fieldOf(version.spec, "spec");
  requireObject(spec, "spec");
  for (const { validation } of version.rules ?? []) addRule(spec, validation);
  if (!isOptional && spec.default === undefined && mayBeEmpty(spec)) spec.default = applyDefaults(spec, {});
  const schema: Schema = {
    type: "object",
    ...((version.description ?? description) !== undefined && { description: version.description ?? description }),
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec,
      ...(version.status && { status: statusSchema(version.status, "status") }),
    },
    ...(!isOptional && spec.default === undefined && { required: ["spec"] }),
  };
  for (const { validation } of version.objectRules ?? []) addRule(schema, validation);
  return schema;
}

function mayBeEmpty({ required = [], minProperties = 0, anyOf }: Schema): boolean {
  return required.length === 0 && minProperties === 0 && anyOf === undefined;
}

function statusSchema(type: NonNullable<VersionDefinition["status"]>, path: string): Schema {
  const { schema } = fieldOf(type, path);
  requireObject(schema, path);
  const reportsGenerations = schema.properties?.observedGeneration === undefined;
  schema.properties = {
    observedGeneration: { type: "integer", format: "int64" },
    conditions: conditions(),
    ...schema.properties,
  };
  if (reportsGenerations && schema.default === undefined && mayBeEmpty(schema)) schema.default = { ...NOT_OBSERVED };
  return schema;
}

function requireObject(schema: Schema, path: string): void {
  if (schema.type !== "object") throw new DefinitionError(path, "must be an object: z.object({ … })");
}

/** Conditions as every Kubernetes API has them, a map by type. */
function conditions(): Schema {
  return {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    items: {
      type: "object",
      required: ["lastTransitionTime", "message", "reason", "status", "type"],
      properties: {
        type: {
          type: "string",
          maxLength: 316,
          pattern:
            "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        },
        status: { type: "string", enum: ["True", "False", "Unknown"] },
        reason: { type: "string", minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
        message: { type: "string", maxLength: 32768 },
        lastTransitionTime: { type: "string", format: "date-time" },
        observedGeneration: { type: "integer", format: "int64", minimum: 0 },
      },
    },
  };
}
