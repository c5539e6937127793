import { WholeFloat } from "./json.ts";

/** A copy of a JSON value that shares nothing with it; several times faster than structuredClone. */
export function deepCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof WholeFloat) return value;
  if (Array.isArray(value)) {
    const list = new Array<unknown>(value.length);
    for (let i = 0; i < value.length; i++) list[i] = deepCopy(value[i] as unknown);
    return list as T;
  }
  // Spreading first makes every key the copy's own, even "__proto__", so that assigning to it is harmless.
  const copy = { ...value };
  for (const key in copy) {
    const part = copy[key];
    if (typeof part === "object" && part !== null) copy[key] = deepCopy(part);
  }
  return copy;
}
