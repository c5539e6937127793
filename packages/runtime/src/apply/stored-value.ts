import { type Schema, sameApplied } from "@konverge/core";

/**
 * Equal as a server stores it: `desired` is what somebody sent, `live` what became of it. Servers drop nulls, empty lists
 * and, of built-in kinds, zero values; they fill in defaults and rewrite quantities. The schema tells which; without one
 * only what holds for every kind is allowed for.
 */
export function sameStored(schema: Schema | undefined, desired: unknown, live: unknown): boolean {
  if (desired === live) return true;
  if (isDropped(schema, desired)) return isAbsent(live) || isDropped(schema, live) || isDefault(schema, live);
  if (Array.isArray(desired) && Array.isArray(live)) {
    return desired.length === live.length && desired.every((item, i) => sameStored(schema?.items, item, live[i]));
  }
  if (isObject(desired) && isObject(live)) return sameFields(schema, desired, live);
  // Quantities, times and the like are compared by value.
  return !isObject(desired) && !Array.isArray(desired) && sameApplied(desired, live, schema);
}

function sameFields(schema: Schema | undefined, desired: JsonObject, live: JsonObject): boolean {
  for (const name in desired) if (!sameStored(fieldSchema(schema, name), desired[name], live[name])) return false;
  for (const name in live) {
    if (name in desired) continue;
    const field = fieldSchema(schema, name);
    if (!isAbsent(live[name]) && !isDropped(field, live[name]) && !isDefault(field, live[name])) return false;
  }
  return true;
}

/** The schema of an object's field or of a map's value. */
export function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const extra = schema?.additionalProperties;
  return schema?.properties?.[name] ?? (typeof extra === "object" ? extra : undefined);
}

/** True for what the server forgets at once: it need not be there, and nothing else may be there instead. */
export function isDropped(schema: Schema | undefined, value: unknown): boolean {
  if (isAbsent(value)) return true;
  const go = schema?.go;
  return go?.omitEmpty === true && !go.pointer && (value === "" || value === 0 || value === false);
}

/** True for what the server puts in where nothing is said. Below a default there may be further ones. */
function isDefault(schema: Schema | undefined, value: unknown): boolean {
  if (schema?.default !== undefined && sameStored(schema, schema.default, value)) return true;
  if (!isObject(value) || !schema?.properties) return false;
  for (const name in value) if (!isDefault(fieldSchema(schema, name), value[name])) return false;
  return true;
}

/** Null, an empty list and an empty object are as good as nothing. */
export function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object") return false;
  for (const _ in value) return false;
  return true;
}

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
