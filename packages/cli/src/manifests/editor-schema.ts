import type { CustomResourceDefinition } from "@konverge/kinds";

type Schema = Record<string, unknown>;

/**
 * The JSON schemas of a kind for editors, by version. They are stricter than the API server in one thing: a field that the
 * schema does not have is an error, where the API server warns and drops it.
 */
export function editorSchemas(crd: CustomResourceDefinition): Map<string, Schema> {
  const { group, names, scope, versions } = crd.spec;
  return new Map(
    versions.map(({ name: version, schema }) => {
      const {
        properties = {},
        required = [],
        ...rest
      } = jsonSchema((schema?.openAPIV3Schema ?? {}) as Schema) as {
        properties?: Record<string, Schema>;
        required?: string[];
      } & Schema;
      const { apiVersion: _a, kind: _k, metadata: _m, ...own } = properties;
      return [
        version,
        {
          $schema: "http://json-schema.org/draft-07/schema#",
          title: names.kind,
          ...rest,
          type: "object",
          required: [...new Set(["apiVersion", "kind", "metadata", ...required])],
          properties: {
            apiVersion: { const: `${group}/${version}` },
            kind: { const: names.kind },
            metadata: metadataSchema(scope === "Namespaced"),
            ...own,
          },
          additionalProperties: false,
        },
      ];
    }),
  );
}

/** What one writes into metadata by hand, and whatever else the API server puts there. */
function metadataSchema(namespaced: boolean): Schema {
  const texts = { type: "object", additionalProperties: { type: "string" } };
  return {
    type: "object",
    properties: {
      name: { type: "string", maxLength: 253 },
      generateName: { type: "string" },
      ...(namespaced && { namespace: { type: "string" } }),
      labels: texts,
      annotations: texts,
      finalizers: { type: "array", items: { type: "string" } },
    },
  };
}

const OPENAPI_ONLY: ReadonlySet<string> = new Set(["nullable", "exclusiveMinimum", "exclusiveMaximum"]);

/** A structural schema as JSON Schema: without what only Kubernetes knows. */
function jsonSchema(schema: Schema): Schema {
  const result: Schema = {};
  for (const [key, value] of Object.entries(schema)) {
    // The duration of Kubernetes is that of Go (1h30m), the one of JSON Schema is another.
    const isOther = key === "format" && value === "duration";
    if (key.startsWith("x-kubernetes-") || OPENAPI_ONLY.has(key) || isOther) continue;
    result[key] = translated(key, value);
  }
  // OpenAPI 3.0 says that a bound is excluded, JSON Schema says which bound is.
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (schema[exclusive] !== true) continue;
    result[exclusive] = schema[bound];
    delete result[bound];
  }
  if (schema["x-kubernetes-int-or-string"]) result["type"] = ["integer", "string"];
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] || schema["x-kubernetes-embedded-resource"];
  if (schema["properties"] && !("additionalProperties" in schema) && !isOpen) result["additionalProperties"] = false;
  if (schema["nullable"]) {
    if (result["type"] !== undefined) result["type"] = [result["type"], "null"].flat();
    if (Array.isArray(result["enum"]) && !result["enum"].includes(null)) result["enum"] = [...result["enum"], null];
  }
  return result;
}

function translated(key: string, value: unknown): unknown {
  if (key === "properties" || key === "patternProperties" || key === "definitions") {
    return Object.fromEntries(
      Object.entries(value as Record<string, Schema>).map(([name, one]) => [name, jsonSchema(one)]),
    );
  }
  if (key === "items" || key === "additionalProperties" || key === "not")
    return typeof value === "boolean" ? value : jsonSchema(value as Schema);
  // Branches only narrow what the schema beside them allows: its fields are not theirs to forbid.
  if (key === "allOf" || key === "anyOf" || key === "oneOf") return (value as Schema[]).map(branchSchema);
  return value;
}

function branchSchema(branch: Schema): Schema {
  const { additionalProperties: _, ...rest } = jsonSchema(branch);
  return rest;
}
