/**
 * What an object may look like. One definition of a kind ({@link defineKind}) gives its TypeScript types, its
 * CustomResourceDefinition and its validation; everything here is pure.
 *
 * A definition is written in Zod and read once, into a structural schema: the form that API servers understand. From
 * there on only the schema counts. The same code that defaults, prunes and validates objects in the embedded API server
 * does so for a kind's own `validate`, so the two cannot disagree, and a real API server is the judge of both.
 *
 * - `kind/`: {@link defineKind} reads the Zod schemas of a definition by its own walk over Zod's description of them; nothing
 *   of Zod is left afterwards but the TypeScript types. What a CRD cannot express throws while the program starts, and names
 *   the path. {@link fromCRD} makes the same thing, less typed, of another project's CRD; {@link typesFromCRD} writes the
 *   types.
 * - `structural/` and `validation/`: all that an API server does to an object because of its schema, in the order of a
 *   request: {@link coerce} removes what the schema does not know and decodes embedded metadata; {@link applyDefaults} fills
 *   in what is missing; {@link validate} returns what is wrong, in the causes and words of kube-apiserver.
 *   {@link structuralErrors} asks of a schema itself whether a server would accept it. Nodes are read as they are reached and
 *   never copied, so the recursive, lazily made schemas of built-in kinds work too; what is computed about a node (patterns,
 *   formats) is kept with the node.
 * - `yaml/`: YAML as Kubernetes reads and writes it. Reading follows its Go library (YAML 1.1: `on` is true), because that is
 *   what the same file means to kubectl; writing gives what `kubectl get -o yaml` would. Errors name the line.
 */
export type { ObjectOf } from "@konverge/core";
export { z } from "zod";
export {
  atomic,
  type CelRule,
  cel,
  listMap,
  listSet,
  maxProperties,
  minProperties,
  type SchemaAnnotation,
} from "./kind/annotations.ts";
export {
  ageColumn,
  conditionColumn,
  type PrinterColumn,
  type PrinterColumnDefinition,
  wideColumn,
} from "./kind/columns.ts";
export { lostInConversion } from "./kind/conversion.ts";
export { type ConversionAnnotation, conversionAnnotation } from "./kind/conversion-annotation.ts";
export type { CrdOptions } from "./kind/crd.ts";
export type * from "./kind/crd-object.ts";
export { type AnyKind, defineKind, hasConversion, type Kind } from "./kind/define-kind.ts";
export type * from "./kind/definition.ts";
export { DefinitionError } from "./kind/definition-error.ts";
export { duration, embeddedObject, intOrString, opaqueObject, quantity, rawSchema } from "./kind/field-types.ts";
export { type CRDKind, crdsFromYaml, fromCRD } from "./kind/from-crd.ts";
export { type ImmutableOptions, immutable } from "./kind/immutable.ts";
export type { KindVersion } from "./kind/kind-version.ts";
export { pluralOf } from "./kind/plural.ts";
export { type TypesFromCRDOptions, typesFromCRD, typeText } from "./kind/types-from-crd.ts";
export { type Coerced, coerce } from "./structural/coerce.ts";
export { applyDefaults, lacksDefaults } from "./structural/defaulting.ts";
export * from "./structural/field-errors.ts";
export { type DecodedMetadata, decodeMetadata, MetadataError } from "./structural/metadata-shape.ts";
export {
  annotationErrors,
  fieldManagerErrors,
  finalizerErrors,
  labelErrors,
  type NameRule,
  objectMetaErrors,
  ownerErrors,
  unqualifiedFinalizerErrors,
} from "./structural/object-meta.ts";
export { PatternBudget } from "./structural/pattern.ts";
export { pruneUnknownFields } from "./structural/pruning.ts";
export { blockedRules } from "./structural/rules.ts";
export type { ScalePaths } from "./structural/scale-paths.ts";
export { type StructuralOptions, structuralErrors } from "./validation/structural-errors.ts";
export { type ValidateValueOptions, validateValue } from "./validation/validate.ts";
export { type ParseYamlOptions, parseYaml, parseYamlDocument, type YamlDocument } from "./yaml/parse-yaml.ts";
export { printYaml } from "./yaml/print-yaml.ts";
export { YamlError, YamlLimitError } from "./yaml/yaml-error.ts";
export { type YamlPlace, yamlPlace } from "./yaml/yaml-place.ts";
