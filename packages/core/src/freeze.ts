/** Freezes a JSON value deeply, and returns it. Parts that are already frozen are skipped. */
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

/**
 * A deeply read-only version of a type, as {@link deepFreeze} returns it. Parts of the objects of your own kinds have
 * such types: `type Worker = DeepReadonly<z.infer<typeof worker>>`.
 */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? IsReadonly<T> extends true
      ? T
      : { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** Of types such as PodTemplateSpec, all is read-only if the first fields are; they keep their names in messages. */
type IsReadonly<T> = (<G>() => G extends T ? 1 : 2) extends <G>() => G extends Readonly<T> ? 1 : 2 ? true : false;
