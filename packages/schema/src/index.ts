/**
 * What an object may look like. One definition of a kind ({@link defineKind}) gives its TypeScript types, its
 * CustomResourceDefinition and its validation; everything here is pure.
 *
 * A definition is written in Zod and read once, into a structural schema: the form that API servers understand. From
 * there on only the schema counts. The same code that defaults, prunes and validates objects in the embedded API server
 * does so for a kind's own `validate`, so the two cannot disagree, and a real API server is the judge of both.
 */
export type { ObjectOf } from "@konverge/core";
export * from "./kind/index.ts";
export * from "./structural/index.ts";
export * from "./yaml/index.ts";
