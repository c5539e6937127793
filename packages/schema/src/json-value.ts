import type { JsonObject } from "@konverge/core";

export { own } from "@konverge/core";

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
