import { badRequest, goText, isObject, type JsonObject, type Schema } from "@konverge/core";
import { own, put } from "../json-value.ts";
import {
  DELETE_FROM_LIST,
  DIRECTIVE,
  ELEMENT_ORDER,
  mergeKeyOf,
  RETAIN_KEYS,
  received,
  unknownDirective,
} from "./directives.ts";
import { goJsonType } from "./json-patch.ts";
import { withoutNulls } from "./merge-patch.ts";
import { listField, objectField, type PatchField } from "./patch-field.ts";
import { internal } from "./refusals.ts";
import { mergeLists, orderAsAsked } from "./strategic-lists.ts";

/**
 * Applies a strategic merge patch to an object of a built-in kind, whose schema says which lists merge and by which key.
 * Nothing is changed in place; what the patch does not touch is shared with `original`.
 */
export function applyStrategicMergePatch<T extends object>(original: T, patch: unknown, schema: Schema): T {
  if (patch === null) return original;
  if (!isObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${goJsonType(patch)} into Go value of type map[string]interface {}`);
  }
  return mergeObjects(original as JsonObject, patch, schema) as T;
}

/** Merges a patch into an object. */
function mergeObjects(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return obeyDirective(patch);
  const result = { ...original };
  const rest = { ...patch };
  retainKeys(result, rest);
  mergeOrderedLists(result, rest, schema);
  for (const key of Object.keys(rest)) mergeKey(result, key, rest[key], schema);
  return result;
}

function obeyDirective(patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw unknownDirective(directive, patch);
}

function mergeKey(result: JsonObject, patchKey: string, change: unknown, schema: Schema): void {
  let key = patchKey;
  const deletes = patchKey.startsWith(DELETE_FROM_LIST);
  if (deletes) key = listNamedBy(patchKey, DELETE_FROM_LIST, "invalid patch format of primitive list") || patchKey;
  if (change === null) {
    delete result[key];
    return;
  }
  const current = own(result, key);
  const bothObjects = isObject(current) && isObject(change);
  const bothLists = Array.isArray(current) && Array.isArray(change);
  if (!bothObjects && !bothLists) {
    if (!deletes) take(result, key, withoutNulls(change));
  } else if (bothObjects) {
    const field = objectField(schema, key);
    put(result, key, field.strategy === "replace" ? change : mergeObjects(current, change, field.schema));
  } else {
    const field = listField(schema, key);
    const merges = field.strategy === "merge" || deletes;
    put(result, key, merges ? mergeListsOf(field, current as unknown[], change as unknown[], deletes) : change);
  }
}

function mergeListsOf(field: PatchField, current: unknown[], change: unknown[], deletes: boolean) {
  return mergeLists(current, change, field, deletes, (a, b) => mergeObjects(a, b, field.schema));
}

/** Stores a value the object did not have: directives in it have nothing to work on. */
function take(result: JsonObject, key: string, value: unknown): void {
  const kept = withoutDirectives(value);
  if (kept === undefined) delete result[key];
  else put(result, key, kept);
}

/** Undefined when the value itself is nothing but a directive. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) take(kept, key, value[key]);
  return kept;
}

function retainKeys(result: JsonObject, patch: JsonObject): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const retained = patch[RETAIN_KEYS];
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(retained)) throw badRequest("invalid patch format of retainKeys");
  const keys = new Set<unknown>(retained);
  for (const key of Object.keys(patch)) {
    if (patch[key] === null || key.startsWith(DELETE_FROM_LIST) || key.startsWith(ELEMENT_ORDER)) continue;
    if (!keys.has(key)) throw badRequest("invalid patch format of retainKeys");
  }
  for (const key of Object.keys(result)) if (!keys.has(key)) delete result[key];
}

const BAD_ORDER = "invalid patch format of setElementOrder list";

/**
 * Merges every list whose order the patch spells out. Such lists are done with afterwards: they leave `patch`, together
 * with the directive.
 */
function mergeOrderedLists(result: JsonObject, patch: JsonObject, schema: Schema): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(ELEMENT_ORDER)) continue;
    const order = patch[key];
    delete patch[key];
    const orderList = asList(order);
    const name = listNamedBy(key, ELEMENT_ORDER, BAD_ORDER);
    const current = Object.hasOwn(result, name) ? asList(result[name]) : undefined;
    const change = Object.hasOwn(patch, name) ? asList(patch[name]) : undefined;
    const field = listField(schema, name);
    checkOrder(change ?? [], orderList, field.mergeKey);
    if (!current && !change) continue;
    let merged: unknown[];
    if (!change) merged = current!;
    else if (!current) merged = withoutDirectives(change) as unknown[];
    else merged = field.strategy === "merge" ? mergeListsOf(field, current, change, false) : change;
    put(result, name, orderAsAsked(merged, orderList, current ?? [], change ?? [], field.mergeKey));
    delete patch[name];
  }
}

function asList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw internal(`expected a []interface {}, but received a ${received(value)}`);
}

/** `containers` of `$setElementOrder/containers`. */
function listNamedBy(key: string, prefix: string, complaint: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(complaint);
  return key.slice(prefix.length + 1);
}

/** Items that a patch adds or changes must appear in the order it asks for, in that order. */
function checkOrder(change: unknown[], order: unknown[], mergeKey: string): void {
  if (order.length === 0 || change.length === 0) return;
  const items = change.filter((item) => {
    if (mergeKey === "") return true;
    if (!isObject(item)) throw internal(`expected a map[string]interface {}, but received a ${received(item)}`);
    return item[DIRECTIVE] !== "delete";
  });
  let next = 0;
  let asked = 0;
  while (next < items.length && asked < order.length) {
    const item = items[next];
    if (isObject(item) && Object.hasOwn(item, DIRECTIVE)) {
      next++;
    } else {
      if (mergeKeyOf(item, mergeKey) === mergeKeyOf(order[asked], mergeKey)) next++;
      asked++;
    }
  }
  if (next < items.length) {
    throw internal(
      `The order in patch list:\n${goText(change)}\n doesn't match ${ELEMENT_ORDER} list:\n${goText(order)}\n`,
    );
  }
}
