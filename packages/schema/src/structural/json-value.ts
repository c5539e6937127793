import type { Schema } from "@konverge/core";

/** An object in the JSON sense. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A deep copy of a JSON value. */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: JsonObject = {};
  for (const key in value) copy[key] = copyJson(value[key]);
  return copy as T;
}

/** The schema of a field's value: its own, or that of a map's values. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  const own = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
  return own ?? valuesSchema(schema);
}

/** The schema of a map's values, where it has one. */
export function valuesSchema(schema: Schema): Schema | undefined {
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}
