/**
 * Kinds from definitions. {@link defineKind} reads the Zod schemas of a definition once, by its own walk over Zod's
 * description of them, into structural schemas; nothing of Zod is left afterwards but the TypeScript types. What a CRD
 * cannot say throws while the program starts, and names the path.
 *
 * {@link fromCRD} makes the same thing, less typed, of somebody else's CRD; {@link typesFromCRD} writes the types.
 */
export {
  type Annotation,
  atomic,
  type CelRule,
  cel,
  listMap,
  listSet,
  maxProperties,
  minProperties,
} from "./annotations.ts";
export { age, type Column, type ColumnDefinition, condition, wide } from "./columns.ts";
export { lostInConversion } from "./conversion.ts";
export type { CrdOptions } from "./crd.ts";
export type * from "./crd-object.ts";
export { type AnyKind, defineKind, type Kind } from "./define-kind.ts";
export type * from "./definition.ts";
export { DefinitionError } from "./definition-error.ts";
export { duration, embedded, intOrString, opaque, quantity, structural } from "./field-types.ts";
export { crdsIn, type ForeignKind, fromCRD } from "./from-crd.ts";
export { type ImmutableOptions, immutable } from "./immutable.ts";
export type { KindVersion } from "./kind-version.ts";
export { pluralOf } from "./plural.ts";
export { type TypesOptions, typesFromCRD } from "./types-from-crd.ts";
