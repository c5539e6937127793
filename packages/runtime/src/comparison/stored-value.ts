import { isObject, type JsonObject, own, type Schema } from "@konverge/core";
import { sameApplied } from "./applied-equality.ts";

/** The path below a value to something that differs, such as `.ports[0].name`; empty for the value itself. */
export type ReplayDifference = string;

/**
 * Where two values differ as a server stores them: `desired` is what a client sent, `live` what the server stored.
 * Servers drop nulls, empty lists and, of built-in kinds, zero values; they fill in defaults and rewrite quantities.
 * The schema decides which; without one, only what holds for every kind is considered.
 */
export function storedDifference(
  schema: Schema | undefined,
  desired: unknown,
  live: unknown,
): ReplayDifference | undefined {
  if (desired === live) return undefined;
  if (isDropped(schema, desired)) {
    return isAbsent(live) || isDropped(schema, live) || isDefault(schema, live) ? undefined : "";
  }
  if (Array.isArray(desired) && Array.isArray(live)) {
    if (desired.length !== live.length) return "";
    return firstOf(desired, (item, i) => below(`[${i}]`, storedDifference(schema?.items, item, live[Number(i)])));
  }
  if (isObject(desired) && isObject(live)) return fieldDifference(schema, desired, live);
  // Quantities, times and the like are compared by value.
  return !isObject(desired) && !Array.isArray(desired) && sameApplied(desired, live, schema) ? undefined : "";
}

function fieldDifference(
  schema: Schema | undefined,
  desired: JsonObject,
  live: JsonObject,
): ReplayDifference | undefined {
  const ofDesired = firstOf(desired, (value, name) =>
    below(`.${name}`, storedDifference(fieldSchema(schema, name), value, own(live, name))),
  );
  if (ofDesired !== undefined) return ofDesired;
  return firstOf(live, (value, name) => {
    const field = fieldSchema(schema, name);
    if (isEmbeddedObject(schema) && FILLED_IN.has(name)) return undefined;
    return name in desired || isAbsent(value) || isDropped(field, value) || isDefault(field, value)
      ? undefined
      : `.${name}`;
  });
}

/** Servers complete objects within objects, such as the volume claims of a StatefulSet. */
const FILLED_IN = new Set(["apiVersion", "kind", "status"]);

function isEmbeddedObject(schema: Schema | undefined): boolean {
  const properties = schema?.properties;
  return properties !== undefined && "apiVersion" in properties && "kind" in properties && "metadata" in properties;
}

/** The schema of an object's field or of a map's value. */
export function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const extra = schema?.additionalProperties;
  return own(schema?.properties ?? {}, name) ?? (typeof extra === "object" ? extra : undefined);
}

/** True for a map or list of which different managers can own different parts. Without a schema that is not known. */
export function isShared(schema: Schema | undefined, value: unknown): boolean {
  if (!schema) return false;
  if (Array.isArray(value)) return (schema["x-kubernetes-list-type"] ?? "atomic") !== "atomic";
  return isObject(value) && schema["x-kubernetes-map-type"] !== "atomic";
}

/** True for what the server forgets at once: it need not be there, and nothing else may be there instead. */
export function isDropped(schema: Schema | undefined, value: unknown): boolean {
  if (isAbsent(value)) return true;
  const go = schema?.go;
  if (!go || go.pointer) return false;
  if (go.message === "Quantity") return value === "0" || value === 0;
  return go.omitEmpty === true && (value === "" || value === 0 || value === false);
}

/** True for what the server puts in where nothing is said. Below a default there may be further ones. */
function isDefault(schema: Schema | undefined, value: unknown): boolean {
  if (schema?.default !== undefined && storedDifference(schema, schema.default, value) === undefined) return true;
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

/** The difference with what leads to it. */
export const below = (path: string, difference: ReplayDifference | undefined) =>
  difference === undefined ? undefined : path + difference;

/** The first difference that `find` finds in a part of a value. */
export function firstOf<T>(
  parts: Readonly<Record<string, T>> | readonly T[],
  find: (part: T, name: string) => ReplayDifference | undefined,
): ReplayDifference | undefined {
  for (const name in parts) {
    const difference = find((parts as Readonly<Record<string, T>>)[name]!, name);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
