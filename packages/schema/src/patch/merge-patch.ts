import { badRequest, deepEqual } from "@konverge/core";
import { isEmpty, isObject, type JsonObject, own, put } from "../json-value.ts";
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

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) if (value[key] !== null) put(kept, key, withoutNulls(value[key]));
  return kept;
}

/**
 * The merge patch that makes `to` of `from`. A merge patch cannot set a key to null: where `to` has a null, the key is
 * removed.
 */
export function createMergePatch(from: object, to: object): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(to)) {
    const before = own(from as JsonObject, key);
    const after = (to as JsonObject)[key];
    if (isObject(before) && isObject(after)) {
      const inner = createMergePatch(before, after);
      if (!isEmpty(inner)) put(patch, key, inner);
    } else if (before === undefined || !deepEqual(before, after)) {
      put(patch, key, after);
    }
  }
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) put(patch, key, null);
  return patch;
}

/**
 * The merge patch by which `kubectl apply` brings a custom resource from `current` to `modified`: what `modified` says
 * is added or changed; what `original` (the configuration applied last time) said and `modified` no longer says is
 * deleted; what others have added stays.
 */
export function createThreeWayMergePatch(original: object, modified: object, current: object): JsonObject {
  const additions = filterNulls(createMergePatch(current, modified), false);
  const deletions = filterNulls(createMergePatch(original, modified), true);
  return combine(deletions, additions);
}

function filterNulls(patch: JsonObject, keepNulls: boolean): JsonObject {
  const filtered: JsonObject = {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) {
      if (keepNulls) put(filtered, key, null);
    } else if (isObject(value) && !isEmpty(value)) {
      const inner = filterNulls(value, keepNulls);
      if (!isEmpty(inner)) put(filtered, key, inner);
    } else if (!keepNulls) {
      put(filtered, key, value);
    }
  }
  return filtered;
}

/** Additions win, except that they may not bring back what is to be deleted: the two never name the same key. */
function combine(deletions: JsonObject, additions: JsonObject): JsonObject {
  const combined = { ...deletions };
  for (const key of Object.keys(additions)) {
    const before = own(deletions, key);
    const value = additions[key];
    put(combined, key, isObject(before) && isObject(value) ? combine(before, value) : value);
  }
  return combined;
}
