import type { FieldsV1 } from "@konverge/core";
import { isObject, type JsonObject } from "./stored-value.ts";

/** The part of a live value that a field set owns: what its manager would have to apply again to change nothing. */
export function ownedPart(fields: FieldsV1, live: unknown): unknown {
  const paths = Object.keys(fields).filter((path) => path !== ".");
  if (paths.length === 0) return live;
  if (Array.isArray(live)) return ownedItems(fields, paths, live);
  if (!isObject(live)) return undefined;
  const part: JsonObject = {};
  for (const path of paths) {
    const name = path.slice(2);
    const value = path.startsWith("f:") ? ownedPart(fields[path]!, live[name]) : undefined;
    if (value !== undefined) part[name] = value;
  }
  return part;
}

function ownedItems(fields: FieldsV1, paths: readonly string[], live: readonly unknown[]): unknown[] {
  const items: unknown[] = [];
  for (const item of live) {
    for (const path of paths) {
      const value: unknown = JSON.parse(path.slice(2));
      if (path.startsWith("v:") && item === value) items.push(item);
      if (!path.startsWith("k:") || !isObject(value) || !isObject(item)) continue;
      if (Object.keys(value).every((name) => item[name] === value[name])) {
        items.push({ ...value, ...(ownedPart(fields[path]!, item) as object) });
      }
    }
  }
  return items;
}
