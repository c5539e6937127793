import { isObject, type JsonObject } from "@konverge/core";
import { put } from "../json-value.ts";

/** A copy of a value as it would be after a trip through JSON: a field that is undefined is not there. */
export function jsonCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => jsonCopy(item ?? null)) as T;
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const [name, item] of Object.entries(value)) if (item !== undefined) put(copy, name, jsonCopy(item));
  return copy as T;
}
