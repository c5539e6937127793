import { type FieldsV1, isObject, type JsonObject, own, type Schema } from "@konverge/core";
import { itemIn } from "./item-path.ts";
import { fieldSchema, isAbsent, isShared } from "./stored-value.ts";

/**
 * The part of a live value that a field set owns: what its manager would have to apply again to change nothing. An
 * empty field set owns all of a value, or of a map or list that managers share only that it exists: the schema decides
 * which.
 */
export function ownedPart(fields: FieldsV1, live: unknown, schema: Schema | undefined): unknown {
  const paths = Object.keys(fields).filter((path) => path !== ".");
  if (paths.length === 0) return isShared(schema, live) ? (Array.isArray(live) ? [] : {}) : live;
  if (Array.isArray(live)) return ownedItems(fields, paths, live, schema?.items);
  if (!isObject(live)) return undefined;
  const part: JsonObject = {};
  for (const path of paths) {
    const name = path.slice(2);
    const value = path.startsWith("f:")
      ? ownedPart(fields[path]!, own(live, name), fieldSchema(schema, name))
      : undefined;
    if (value !== undefined) part[name] = value;
  }
  return part;
}

function ownedItems(
  fields: FieldsV1,
  paths: readonly string[],
  live: readonly unknown[],
  schema: Schema | undefined,
): unknown[] {
  return live.flatMap((item) => {
    const path = paths.find((one) => isItemOf(one, item));
    if (path === undefined) return [];
    if (path.startsWith("v:")) return [item];
    return [{ ...(itemIn(path) as object), ...(ownedPart(fields[path]!, item, schema) as object) }];
  });
}

/** The part of a live value that a field set does not own; undefined if there is none. */
export function unownedPart(fields: FieldsV1 | undefined, live: unknown, schema: Schema | undefined): unknown {
  if (!fields) return live;
  const paths = Object.keys(fields).filter((path) => path !== ".");
  if (paths.length === 0) return isShared(schema, live) && !isAbsent(live) ? live : undefined;
  if (Array.isArray(live)) {
    const items = live.flatMap((item) => unownedItem(fields, paths, item, schema?.items) ?? []);
    return items.length > 0 ? items : undefined;
  }
  if (!isObject(live)) return live;
  const part: JsonObject = {};
  for (const name in live) {
    const value = unownedPart(fields[`f:${name}`], live[name], fieldSchema(schema, name));
    if (value !== undefined) part[name] = value;
  }
  return Object.keys(part).length > 0 ? part : undefined;
}

function unownedItem(fields: FieldsV1, paths: readonly string[], item: unknown, schema: Schema | undefined): unknown {
  const path = paths.find((one) => isItemOf(one, item));
  return path === undefined ? item : path.startsWith("v:") ? undefined : unownedPart(fields[path]!, item, schema);
}

/** Whether a path such as `k:{"name":"x"}` or `v:"x"` means this item. */
function isItemOf(path: string, item: unknown): boolean {
  const value = itemIn(path);
  if (path.startsWith("v:")) return item === value;
  if (!path.startsWith("k:") || !isObject(value) || !isObject(item)) return false;
  return Object.keys(value).every((name) => item[name] === value[name]);
}
