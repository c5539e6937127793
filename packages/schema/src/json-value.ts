import type { JsonObject } from "@konverge/core";

/**
 * A property that the object itself has. Keys are users' words: `constructor` and `__proto__` are legal keys of a
 * ConfigMap, so what objects inherit must never be seen.
 */
export function own(object: JsonObject, key: string): unknown {
  const value = object[key];
  return value === undefined || Object.hasOwn(object, key) ? value : undefined;
}

/** Sets a property, whatever its name. */
export function put(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** How many keys an object has is rarely wanted; whether it has one, often. */
export function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}
