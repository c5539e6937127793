/** What JSON.parse and parseJson give. */
export type JsonObject = { [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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

/** The same JSON: order of keys does not matter, `1` and `1n` are the same number. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint are the same if they count the same
    return isNumber(a) && isNumber(b) && a == b;
  }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equalJson(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let count = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !equalJson((a as JsonObject)[key], (b as JsonObject)[key])) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** How many keys an object has is rarely wanted; whether it has one, often. */
export function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}
