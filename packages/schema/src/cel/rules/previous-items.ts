import type { Schema } from "@konverge/core";

type Item = Readonly<Record<string, unknown>>;

/** Finds what an item of a list was before: the first one with the same keys. Only map lists have any. */
export function previousItems(schema: Schema, old: unknown): (item: unknown) => unknown {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const isMapList = schema.type === "array" && schema["x-kubernetes-list-type"] === "map" && keys.length > 0;
  if (!isMapList || !Array.isArray(old) || old.length === 0) return () => undefined;
  const byKey = new Map<string, unknown>();
  for (const item of old) {
    const key = keyOf(keys, item);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return (item) => {
    const key = keyOf(keys, item);
    return key === undefined ? undefined : byKey.get(key);
  };
}

function keyOf(keys: readonly string[], item: unknown): string | undefined {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return undefined;
  const values: string[] = [];
  for (const name of keys) {
    const value = Object.hasOwn(item, name) ? (item as Item)[name] : undefined;
    if (value === undefined || value === null || typeof value === "object") return undefined;
    values.push(typeof value === "bigint" ? `number ${value}` : `${typeof value} ${value}`);
  }
  return JSON.stringify(values);
}
