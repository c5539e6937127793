/**
 * What an object may look like. One definition of a kind ({@link defineKind}) gives its TypeScript types, its
 * CustomResourceDefinition and its validation; everything here is pure.
 *
 * A definition is written in Zod and read once, into a structural schema: the form that API servers understand. From
 * there on only the schema counts. The same code that defaults, prunes and validates objects in the embedded API server
 * does so for a kind's own `validate`, so the two cannot disagree, and a real API server is the judge of both.
 */
export type { ObjectOf } from "@konverge/core";
export { type Annotation, atomic, type CelRule, cel, listMap, listSet } from "./kind/annotations.ts";
export { age, type Column, type ColumnDefinition, condition } from "./kind/columns.ts";
export type * from "./kind/crd-object.ts";
export { defineKind, type Kind, type KindDefinition } from "./kind/define-kind.ts";
export type * from "./kind/definition.ts";
export { DefinitionError } from "./kind/definition-error.ts";
export { pluralOf } from "./kind/plural.ts";
export * from "./structural/index.ts";
export { prune } from "./structural/pruning.ts";
export { validate } from "./structural/validate.ts";
