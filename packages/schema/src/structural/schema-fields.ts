import type { Schema } from "@konverge/core";

/** The schema of one of an object's named fields. */
export function propertySchema(schema: Schema, name: string): Schema | undefined {
  const property = schema.properties?.[name];
  // All that an object inherits are functions, but for its prototype.
  return typeof property === "object" && name !== "__proto__" ? property : undefined;
}

/** The schema of a map's values, where it has one. */
export function valuesSchema(schema: Schema): Schema | undefined {
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** The schema of a field's value: its own, or that of a map's values. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  return propertySchema(schema, name) ?? valuesSchema(schema);
}
