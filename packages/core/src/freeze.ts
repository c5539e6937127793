/** Freezes a JSON value through and through, and returns it. A part that is frozen is taken to be so throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const key in value) {
      const part = value[key];
      if (typeof part === "object" && part !== null) deepFreeze(part);
    }
    Object.freeze(value);
  }
  return value;
}

/** A type all of whose parts are read-only: what {@link deepFreeze} makes true. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
