import { badRequest, isObject, type JsonObject } from "@konverge/core";
import { own, put } from "../json-value.ts";
import { goJsonType } from "./json-patch.ts";

/**
 * Applies a JSON merge patch (RFC 7386). Nothing is changed in place; parts the patch does not touch are shared with
 * `document`. As in the API server, nulls inside a list that the patch brings along are dropped from its objects, which
 * the RFC does not ask for.
 */
export function applyMergePatch<T extends object>(document: T, patch: unknown): T {
  if (patch === null) throw badRequest("Invalid JSON Patch");
  if (!isObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goJsonType(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObject(document as JsonObject, patch) as T;
}

function mergeObject(document: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...document };
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    const current = own(document, key);
    if (change === null) delete merged[key];
    else if (isObject(current)) put(merged, key, isObject(change) ? mergeObject(current, change) : change);
    else put(merged, key, withoutNulls(change));
  }
  return merged;
}

/** A value as it is put where there was none: nulls take away, and there is nothing to take away. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) if (value[key] !== null) put(kept, key, withoutNulls(value[key]));
  return kept;
}
