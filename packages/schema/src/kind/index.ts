/**
 * Kinds from definitions. {@link defineKind} reads the Zod schemas of a definition once, by its own walk over Zod's
 * description of them, into structural schemas; nothing of Zod is left afterwards but the TypeScript types. What a CRD
 * cannot say throws while the program starts, and names the path.
 *
 * {@link fromCRD} makes the same thing, less typed, of somebody else's CRD; {@link typesFromCRD} writes the types.
 */
export {
  atomic,
  type CelRule,
  cel,
  listMap,
  listSet,
  maxProperties,
  minProperties,
  type SchemaAnnotation,
} from "./annotations.ts";
export { ageColumn, conditionColumn, type PrinterColumn, type PrinterColumnDefinition, wideColumn } from "./columns.ts";
export { lostInConversion } from "./conversion.ts";
export type { CrdOptions } from "./crd.ts";
export type * from "./crd-object.ts";
export { type AnyKind, defineKind, type Kind } from "./define-kind.ts";
export type * from "./definition.ts";
export { DefinitionError } from "./definition-error.ts";
export { duration, embeddedObject, intOrString, opaqueObject, quantity, rawSchema } from "./field-types.ts";
export { type CRDKind, crdsFromYaml, fromCRD } from "./from-crd.ts";
export { type ImmutableOptions, immutable } from "./immutable.ts";
export type { DraftMetadata, KindVersion, NewMetadata, SpecArguments } from "./kind-version.ts";
export { pluralOf } from "./plural.ts";
export { type TypesFromCRDOptions, typesFromCRD } from "./types-from-crd.ts";
