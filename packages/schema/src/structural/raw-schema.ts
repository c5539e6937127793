import type { Schema } from "@konverge/core";

/** A schema as it was written: it can have what a structural schema must not. */
export type RawSchema = Omit<Schema, "items" | "type"> & {
  type?: string;
  items?: Schema | Schema[];
  $ref?: string;
  $schema?: string;
  id?: string;
  definitions?: Record<string, Schema>;
  dependencies?: Record<string, unknown>;
  patternProperties?: Record<string, Schema>;
  additionalItems?: Schema | boolean;
};

/** The single schema of a list's items, if that is what `items` is. */
export function itemsOf(schema: RawSchema): RawSchema | undefined {
  return Array.isArray(schema.items) ? undefined : schema.items;
}

/** The schemas of an object's named fields. */
export function propertiesOf(schema: RawSchema): [string, RawSchema][] {
  return Object.entries(schema.properties ?? {});
}

/** Whether a default counts as given: null does not. */
export function hasDefault(schema: RawSchema): boolean {
  return schema.default !== undefined && schema.default !== null;
}

const UNSUPPORTED: [string, (schema: RawSchema) => unknown][] = [
  ["id", ({ id }) => id],
  ["schema", ({ $schema }) => $schema],
  ["$ref", ({ $ref }) => $ref],
  ["patternProperties", ({ patternProperties }) => Object.keys(patternProperties ?? {}).length],
  ["dependencies", ({ dependencies }) => Object.keys(dependencies ?? {}).length],
  ["additionalItems", ({ additionalItems }) => additionalItems !== undefined],
  ["definitions", ({ definitions }) => Object.keys(definitions ?? {}).length],
];

/** What keeps a schema from being read as a structural one at all, if anything does. */
export function unsupportedKeyword(schema: RawSchema): string | undefined {
  for (const [keyword, isSet] of UNSUPPORTED) if (isSet(schema)) return `OpenAPIV3Schema '${keyword}' is not supported`;
  if (Array.isArray(schema.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  const values = typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
  const items = itemsOf(schema);
  const parts: RawSchema[] = [
    ...(schema.not ? [schema.not] : []),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(items ? [items] : []),
    ...propertiesOf(schema).map(([, property]) => property),
    ...values,
  ];
  for (const part of parts) {
    const problem = unsupportedKeyword(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
