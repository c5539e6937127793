import type { Schema } from "@konverge/core";
import { ruleOf } from "./annotations.ts";
import type { ColumnDefinition } from "./columns.ts";
import type { CrdColumn, CrdVersion } from "./crd-object.ts";
import type { VersionDefinition } from "./definition.ts";
import { DefinitionError } from "./definition-error.ts";
import { schemaOf } from "./zod-schema.ts";

/** The schema of a version's whole objects. */
export function objectSchema(version: VersionDefinition, path: string): Schema {
  const properties: Record<string, Schema> = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
  };
  const spec = schemaOf(version.spec, `${path} spec`);
  if (spec.type !== "object") throw new DefinitionError(`${path} spec`, "must be an object: z.object({ … })");
  if (version.rules?.length) {
    spec["x-kubernetes-validations"] = [...(spec["x-kubernetes-validations"] ?? []), ...version.rules.map(ruleOf)];
  }
  properties["spec"] = spec;
  if (version.status) properties["status"] = statusSchema(schemaOf(version.status, `${path} status`), `${path} status`);
  const optionalSpec = version.spec._zod.optin !== undefined;
  if (!optionalSpec && (spec.required ?? []).length === 0) spec.default = {};
  return {
    type: "object",
    ...(version.description !== undefined && { description: version.description }),
    properties,
    ...(!optionalSpec && spec.default === undefined && { required: ["spec"] }),
    ...(version.objectRules?.length && { "x-kubernetes-validations": version.objectRules.map(ruleOf) }),
  };
}

function statusSchema(status: Schema, path: string): Schema {
  if (status.type !== "object") throw new DefinitionError(path, "must be an object: z.object({ … })");
  const { properties = {}, ...rest } = status;
  return {
    ...rest,
    properties: { observedGeneration: { type: "integer", format: "int64" }, conditions: CONDITIONS, ...properties },
  };
}

/** `[]metav1.Condition`, a map by type. */
const CONDITIONS: Schema = {
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

/** A version as it stands in the CRD. */
export function crdVersion(name: string, version: VersionDefinition, schema: Schema, storage: boolean): CrdVersion {
  const { scale, deprecated } = version;
  const columns = Object.entries(version.columns ?? {}).map(([header, column]) => crdColumn(header, column, schema));
  return {
    name,
    served: version.served ?? true,
    storage,
    ...(deprecated !== undefined && deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === "string" && { deprecationWarning: deprecated }),
    schema: { openAPIV3Schema: schema },
    ...((version.status || scale) && {
      subresources: {
        ...(version.status && { status: {} }),
        ...(scale && {
          scale: {
            specReplicasPath: scale.replicas,
            statusReplicasPath: scale.statusReplicas,
            ...(scale.selector !== undefined && { labelSelectorPath: scale.selector }),
          },
        }),
      },
    }),
    ...(columns.length > 0 && { additionalPrinterColumns: columns }),
    ...(version.selectableFields?.length && {
      selectableFields: version.selectableFields.map((jsonPath) => ({ jsonPath })),
    }),
  };
}

function crdColumn(name: string, column: ColumnDefinition, schema: Schema): CrdColumn {
  const { jsonPath, type, ...rest } = typeof column === "string" ? { jsonPath: column } : column;
  return { name, type: type ?? columnType(jsonPath, schema), jsonPath, ...rest };
}

/** The printer type of a plain path; whatever is reached through an index or a filter prints as a string. */
function columnType(jsonPath: string, schema: Schema): string {
  let node: Schema | undefined = schema;
  for (const name of jsonPath.split(".").slice(1)) {
    const properties: Schema["properties"] = node?.properties;
    node = properties?.[name];
  }
  if (node?.format === "date-time") return "date";
  const type = node?.type;
  return type === "integer" || type === "number" || type === "boolean" ? type : "string";
}
