/**
 * The structural-schema engine: all that an API server does to an object because of its schema. It is the only validator
 * there is; Zod, built-in kinds and CRDs alike end up as {@link Schema} nodes and are judged here.
 *
 * An object passes through in the order of a request: {@link coerce} removes what the schema does not know and decodes
 * embedded metadata; {@link applyDefaults} fills in what is missing; {@link validate} says what is wrong, in the causes
 * and words of kube-apiserver. {@link structuralErrors} asks of a schema itself whether a server would take it.
 *
 * Nodes are read as they are reached and never copied, so the recursive, lazily made schemas of built-in kinds will do.
 * What is computed about a node (patterns, formats) is kept with the node.
 */
export { type Coerced, coerce } from "./coerce.ts";
export { applyDefaults, lacksDefaults } from "./defaulting.ts";
export * from "./field-errors.ts";
export { type DecodedMetadata, decodeMetadata, MetadataError } from "./metadata-shape.ts";
export {
  annotationErrors,
  fieldManagerErrors,
  finalizerErrors,
  labelErrors,
  type NameRule,
  objectMetaErrors,
  ownerErrors,
} from "./object-meta.ts";
export { pruneUnknownFields } from "./pruning.ts";
export type { ScalePaths } from "./scale-paths.ts";
export { type StructuralOptions, structuralErrors } from "./structural-errors.ts";
export { type ValidateValueOptions, validateValue } from "./validate.ts";
