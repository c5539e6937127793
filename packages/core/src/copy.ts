import { WholeFloat } from "./json.ts";

/** A mutable version of a type. Objects of Kubernetes are read-only; {@link deepCopy} returns a copy of this type. */
export type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;

/** A mutable copy of a JSON value; several times faster than structuredClone. */
export function deepCopy<T>(value: T): Mutable<T> {
  return copyOf(value) as Mutable<T>;
}

function copyOf<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof WholeFloat) return value;
  if (Array.isArray(value)) {
    const list = new Array<unknown>(value.length);
    for (let i = 0; i < value.length; i++) list[i] = copyOf(value[i] as unknown);
    return list as T;
  }
  // Spreading first makes every key the copy's own, even "__proto__", so that assigning to it is harmless.
  const copy = { ...value };
  for (const key in copy) {
    const part = copy[key];
    if (typeof part === "object" && part !== null) copy[key] = copyOf(part);
  }
  return copy;
}
