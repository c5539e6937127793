import { type JsonObject, put } from "../patch/index.ts";

/** A deep copy of a JSON value. */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: JsonObject = {};
  for (const name in value) put(copy, name, copyJson(value[name]));
  return copy as T;
}
