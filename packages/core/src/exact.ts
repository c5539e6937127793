/** The type of a field that the type it should have does not know: no value is of it, so the compiler names the field. */
export interface NoSuchField<Name> {
  readonly "there is no such field": Name;
}

/**
 * `Given`, if it has no fields but those of `Known`, at any depth; otherwise a type that `Given` is not assignable to. To be used
 * as `function f<G extends Known>(given: G & NoOtherFields<Known, G>)`.
 *
 * The compiler finds misspelled fields in a literal, but not in what comes from a variable or is spread into the
 * literal (`...(gpus > 0 && { resorces })`).
 */
export type NoOtherFields<Known, Given> = Given extends object
  ? unknown extends Known
    ? Given
    : Same<Given, Known> extends true
      ? Given
      : Given extends readonly (infer GivenItem)[]
        ? readonly NoOtherFields<Known extends readonly (infer Item)[] ? Item : never, GivenItem>[]
        : {
            readonly [K in keyof Given]: [FieldOf<Known, K>] extends [never]
              ? NoSuchField<K>
              : NoOtherFields<Exclude<FieldOf<Known, K>, null | undefined>, Given[K]>;
          }
  : Given;

/** The paths of the fields that `Given` has and `Known` does not, at any depth: `status.readyReplcas`. */
export type UnknownFields<Known, Given, Path extends string = ""> = unknown extends Known | Given
  ? never
  : Given extends object
    ? Same<Given, Known> extends true
      ? never
      : Given extends readonly (infer GivenItem)[]
        ? UnknownFields<Known extends readonly (infer Item)[] ? Item : never, GivenItem, Path>
        : {
            [K in keyof Given & string]-?: [FieldOf<Known, K>] extends [never]
              ? `${Path}${K}`
              : UnknownFields<Exclude<FieldOf<Known, K>, null | undefined>, Given[K], `${Path}${K}.`>;
          }[keyof Given & string]
    : never;

/** What a field of a type may hold; of a union, what it may in any of its members. */
export type FieldOf<T, Name> = T extends unknown ? (Name extends keyof T ? T[Name] : never) : never;

/** Whether two types are one. Most parts of an object have the declared type, and need not be looked into. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
