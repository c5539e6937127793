import { type FieldsV1, isObject, type JsonObject, type Schema } from "@konverge/core";
import { itemIn } from "./item-path.ts";
import {
  below,
  fieldSchema,
  firstOf,
  isDropped,
  isShared,
  type ReplayDifference,
  storedDifference,
} from "./stored-value.ts";

/**
 * Where applying `desired` would change something, undefined if nowhere: the field set that we own is then exactly the
 * one that `desired` names, and the live object has these values. The field set itself shows how lists are merged, so a
 * schema is not needed; with one the defaults and zero values of atomic fields are understood as well.
 *
 * Where it errs it finds a difference, which costs a request that changes nothing.
 */
export function appliedDifference(
  fields: FieldsV1,
  desired: unknown,
  live: unknown,
  schema: Schema | undefined = undefined,
): ReplayDifference | undefined {
  const paths = Object.keys(fields).filter((path) => path !== ".");
  if (paths.length === 0) {
    // Of an empty object or list others may own all that is in it.
    return isEmpty(desired) && isShared(schema, desired) ? undefined : storedDifference(schema, desired, live);
  }
  if (Array.isArray(desired)) {
    return Array.isArray(live) ? listDifference(fields, paths, desired, live, schema?.items) : "";
  }
  if (!isObject(desired) || !isObject(live)) return "";
  for (const name in desired) {
    if (!(`f:${name}` in fields) && !isDropped(fieldSchema(schema, name), desired[name])) return `.${name}`;
  }
  return firstOf(paths, (path) => {
    const name = path.slice(2);
    if (!path.startsWith("f:") || desired[name] === undefined || desired[name] === null) return `.${name}`;
    return below(`.${name}`, appliedDifference(fields[path]!, desired[name], live[name], fieldSchema(schema, name)));
  });
}

const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;

function listDifference(
  fields: FieldsV1,
  paths: readonly string[],
  desired: readonly unknown[],
  live: readonly unknown[],
  schema: Schema | undefined,
): ReplayDifference | undefined {
  if (paths.length !== desired.length) return "";
  return firstOf(paths, (path) => {
    const where = `[${path.slice(2)}]`;
    const value = itemIn(path);
    if (path.startsWith("v:")) {
      return contains(schema, desired, value) && contains(schema, live, value) ? undefined : where;
    }
    const wanted = path.startsWith("k:") && isObject(value) ? closest(desired, value) : undefined;
    if (!wanted) return where;
    const keys = value as JsonObject;
    const item = withOwnedKeys(wanted, keys, fields[path]!);
    return below(where, appliedDifference(fields[path]!, item, itemWith(live, keys), schema));
  });
}

/** A key that the server filled in is in the item's name, but not owned: it is not compared then. */
function withOwnedKeys(item: JsonObject, keys: JsonObject, fields: FieldsV1): JsonObject {
  const result = { ...item };
  for (const name in keys) if (`f:${name}` in fields) result[name] ??= keys[name];
  return result;
}

const contains = (schema: Schema | undefined, items: readonly unknown[], value: unknown) =>
  items.some((item) => storedDifference(schema, item, value) === undefined);

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
