import type { JsonPatchOperation } from "@konverge/client";
import { append, deepEqual, isObject, type JsonObject, own } from "@konverge/core";

/** The operations that make `after` of `before`. Lists of another length are replaced as a whole. */
export function jsonDiff(before: unknown, after: unknown, path = ""): JsonPatchOperation[] {
  if (deepEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) return recordDiff(before, after, path);
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, i) => jsonDiff(item, after[i], `${path}/${i}`));
  }
  return [{ op: "replace", path, value: after }];
}

/** A path at which two values differ: a JSON pointer, and both values; undefined if a value does not exist. */
export interface JsonDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The places in which two values differ. */
export function differing(before: unknown, after: unknown): JsonDifference[] {
  return jsonDiff(before, after).map(({ path }) => ({
    path,
    before: valueAt(before, path),
    after: valueAt(after, path),
  }));
}

function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value);
}

function recordDiff(before: JsonObject, after: JsonObject, path: string) {
  const operations: JsonPatchOperation[] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const [old, value] = [own(before, name), own(after, name)];
    if (old !== undefined && value !== undefined) append(operations, jsonDiff(old, value, at));
    else if (old !== undefined) operations.push({ op: "remove", path: at });
    else if (value !== undefined) operations.push({ op: "add", path: at, value });
  }
  return operations;
}
