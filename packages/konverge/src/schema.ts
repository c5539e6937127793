/**
 * Reads CRDs and works with schemas: kinds and TypeScript types from a CRD ({@link fromCRD}, {@link typesFromCRD}); defaulting,
 * pruning and validation as the API server does them; YAML as kubectl reads and prints it.
 */

export type { Schema } from "@konverge/core";
export {
  type BuiltinColumn,
  type BuiltinResource,
  type BuiltinSubresource,
  builtinResources,
  builtinSchema,
  kubernetesVersion,
} from "@konverge/kinds";
export {
  type AnyCrd,
  applyDefaults,
  type ConversionAnnotation,
  type CRDKind,
  type CrdColumn,
  type CrdConversion,
  type CrdNames,
  type CrdObject,
  type CrdSpec,
  type CrdVersion,
  conversionAnnotation,
  crdsFromYaml,
  fromCRD,
  lostInConversion,
  type ParseYamlOptions,
  parseYaml,
  pluralOf,
  printYaml,
  pruneUnknownFields,
  type ScalePaths,
  type StructuralOptions,
  structuralErrors,
  type TypesFromCRDOptions,
  typesFromCRD,
  type ValidateValueOptions,
  validateValue,
  YamlError,
} from "@konverge/schema";
