import type { FieldsV1, Schema } from "@konverge/core";
import { fieldSchema, isDropped, isObject, type JsonObject, sameStored } from "./stored-value.ts";

/**
 * True if applying `desired` would change nothing: the field set that we own is exactly the one that `desired` names, and
 * the live object has these values. The field set itself tells how lists are merged, so a schema is not needed; with one
 * the defaults and zero values of atomic fields are understood as well.
 *
 * Where it errs it says false, which costs a request that changes nothing.
 */
export function isApplied(
  fields: FieldsV1,
  desired: unknown,
  live: unknown,
  schema: Schema | undefined = undefined,
): boolean {
  const paths = Object.keys(fields).filter((path) => path !== ".");
  if (paths.length === 0) return sameStored(schema, desired, live);
  if (Array.isArray(desired)) {
    return Array.isArray(live) && isListApplied(fields, paths, desired, live, schema?.items);
  }
  if (!isObject(desired) || !isObject(live)) return false;
  for (const name in desired) {
    if (!(`f:${name}` in fields) && !isDropped(fieldSchema(schema, name), desired[name])) return false;
  }
  return paths.every((path) => {
    const name = path.slice(2);
    if (!path.startsWith("f:") || desired[name] === undefined || desired[name] === null) return false;
    return isApplied(fields[path]!, desired[name], live[name], fieldSchema(schema, name));
  });
}

function isListApplied(
  fields: FieldsV1,
  paths: readonly string[],
  desired: readonly unknown[],
  live: readonly unknown[],
  schema: Schema | undefined,
): boolean {
  if (paths.length !== desired.length) return false;
  return paths.every((path) => {
    const value: unknown = JSON.parse(path.slice(2));
    if (path.startsWith("v:")) return contains(schema, desired, value) && contains(schema, live, value);
    if (!path.startsWith("k:") || !isObject(value)) return false;
    const wanted = closest(desired, value);
    if (!wanted) return false;
    return isApplied(fields[path]!, withOwnedKeys(wanted, value, fields[path]!), itemWith(live, value), schema);
  });
}

/** A key that the server filled in is in the item's name, but not owned: it is not compared then. */
function withOwnedKeys(item: JsonObject, keys: JsonObject, fields: FieldsV1): JsonObject {
  const result = { ...item };
  for (const name in keys) if (`f:${name}` in fields) result[name] ??= keys[name];
  return result;
}

const contains = (schema: Schema | undefined, items: readonly unknown[], value: unknown) =>
  items.some((item) => sameStored(schema, item, value));

const itemWith = (items: readonly unknown[], keys: JsonObject) =>
  items.find((item) => isObject(item) && Object.keys(keys).every((name) => item[name] === keys[name]));

/** The item with these keys. One that lacks a key gets it from a default, so it will do if no other has it. */
function closest(items: readonly unknown[], keys: JsonObject): JsonObject | undefined {
  let best: { item: JsonObject; matches: number } | undefined;
  for (const item of items) {
    if (!isObject(item)) continue;
    const given = Object.keys(keys).filter((name) => item[name] !== undefined && item[name] !== null);
    if (given.some((name) => item[name] !== keys[name])) continue;
    if (given.length > (best?.matches ?? 0)) best = { item, matches: given.length };
  }
  return best?.item;
}
