import type { FieldsV1 } from "@konverge/core";

/**
 * True if applying `desired` would change nothing: the field set that we own is exactly the one that `desired` names, and
 * the live object has these values. No schema is needed, since the field set tells how lists are merged.
 *
 * Where it errs it says false, which costs a request that changes nothing.
 */
export function isApplied(fields: FieldsV1 | undefined, desired: unknown, live: unknown): boolean {
  if (fields === undefined) return isAbsent(desired);
  const paths = Object.keys(fields).filter((path) => path !== ".");
  if (paths.length === 0) return sameValue(desired, live);
  if (Array.isArray(desired)) return Array.isArray(live) && isListApplied(fields, paths, desired, live);
  if (!isObject(desired) || !isObject(live)) return false;
  for (const name in desired) if (!(`f:${name}` in fields) && !isAbsent(desired[name])) return false;
  for (const path of paths) {
    if (!path.startsWith("f:")) return false;
    const name = path.slice(2);
    if (desired[name] === undefined || desired[name] === null) return false;
    if (!isApplied(fields[path], desired[name], live[name])) return false;
  }
  return true;
}

function isListApplied(fields: FieldsV1, paths: readonly string[], desired: unknown[], live: unknown[]): boolean {
  if (paths.length !== desired.length) return false;
  for (const path of paths) {
    const value: unknown = JSON.parse(path.slice(2));
    if (path.startsWith("v:")) {
      if (!desired.some((item) => sameValue(item, value)) || !live.some((item) => sameValue(item, value))) return false;
    } else if (path.startsWith("k:") && isObject(value)) {
      const wanted = closest(desired, value);
      const existing = live.find((item) => isObject(item) && hasKeys(item, value));
      if (!wanted || !isItemApplied(fields[path]!, wanted, value, existing)) return false;
    } else return false;
  }
  return true;
}

/** As isApplied, for an item whose keys the server may have filled in: they are owned, but not desired. */
function isItemApplied(fields: FieldsV1, item: object, keys: Record<string, unknown>, live: unknown): boolean {
  return isApplied(fields, leaf(fields) ? item : { ...keys, ...item }, live);
}

const leaf = (fields: FieldsV1) => Object.keys(fields).every((path) => path === ".");

/** The item with these keys; one that lacks a key has its default, so it will do if no other has it. */
function closest(items: unknown[], keys: Record<string, unknown>): Record<string, unknown> | undefined {
  let best: { item: Record<string, unknown>; matches: number } | undefined;
  for (const item of items) {
    if (!isObject(item)) continue;
    let matches = 0;
    let differs = false;
    for (const name in keys) {
      if (item[name] === undefined) continue;
      if (item[name] === keys[name]) matches++;
      else differs = true;
    }
    if (!differs && matches > (best?.matches ?? 0)) best = { item, matches };
  }
  return best?.item;
}

function hasKeys(item: Record<string, unknown>, keys: Record<string, unknown>): boolean {
  for (const name in keys) if (item[name] !== keys[name]) return false;
  return true;
}

/** Equal as a server stores it: null, an empty list and an empty object are as good as nothing. */
export function sameValue(desired: unknown, live: unknown): boolean {
  if (desired === live) return true;
  if (isAbsent(desired) && isAbsent(live)) return true;
  if (Array.isArray(desired) && Array.isArray(live)) {
    return desired.length === live.length && desired.every((item, i) => sameValue(item, live[i]));
  }
  if (!isObject(desired) || !isObject(live)) return false;
  for (const name in desired) if (!sameValue(desired[name], live[name])) return false;
  for (const name in live) if (!(name in desired) && !isAbsent(live[name])) return false;
  return true;
}

function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object") return false;
  for (const _ in value) return false;
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
