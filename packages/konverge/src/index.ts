/**
 * Konverge: Kubernetes operators in TypeScript.
 *
 * {@link defineKind} turns one typed definition into types, a CRD and a validator; {@link controller} says what should exist
 * for each object of a kind; {@link run} makes it so, on any Kubernetes. Built-in kinds come from `konverge/kinds`.
 */
export * from "@konverge/client";
export * from "@konverge/core";
export { forbidden } from "@konverge/core";
export * from "@konverge/runtime";
export * from "@konverge/schema";
