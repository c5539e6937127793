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

/**
 * A type all of whose parts are read-only: what {@link deepFreeze} makes true. The parts of objects of a kind of yours have
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
