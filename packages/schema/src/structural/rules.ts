import type { FieldError, Schema } from "@konverge/core";
import { invalidValue, NO_PATH } from "./field-errors.ts";

/** Evaluates the CEL rules of a schema on a value. */
export type RuleCheck = (
  schema: Schema,
  value: unknown,
  old: unknown,
  options: { path?: string; ratcheting: boolean },
) => FieldError[];

const known = new WeakMap<Schema, boolean>();

/** Whether a schema has CEL rules anywhere. */
export function hasRules(schema: Schema): boolean {
  // Built-in kinds have none, and their schemas contain themselves.
  if (schema.go !== undefined) return false;
  const answer = known.get(schema);
  if (answer !== undefined) return answer;
  const isFound =
    (schema["x-kubernetes-validations"]?.length ?? 0) > 0 ||
    (schema.items !== undefined && hasRules(schema.items)) ||
    (typeof schema.additionalProperties === "object" && hasRules(schema.additionalProperties)) ||
    Object.values(schema.properties ?? {}).some(hasRules);
  known.set(schema, isFound);
  return isFound;
}

/** Said instead of evaluating rules on values that may not have the types the rules were compiled for. */
export function blockedRules(errors: readonly FieldError[]): FieldError | undefined {
  const detail =
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
  return errors.some(({ reason }) => BLOCKING.has(reason)) ? invalidValue(NO_PATH, null, detail) : undefined;
}

const BLOCKING = new Set<FieldError["reason"]>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
