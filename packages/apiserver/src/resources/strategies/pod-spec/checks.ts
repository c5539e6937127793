import { deepEqual, type FieldError, quoted } from "@konverge/core";
import { invalidValue, notSupported, required } from "@konverge/schema";

/** Errors for texts that a rule of naming finds fault with. */
export function named(field: string, value: string, details: readonly string[]): FieldError[] {
  return details.map((detail) => invalidValue(field, value, detail));
}

/** Required, and then one of a few. */
export function oneOf(field: string, value: string | undefined, supported: readonly string[]): FieldError[] {
  if (value === undefined || value === "") return [required(field)];
  return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}

/** One of a few, where it is given at all. */
export function optionallyOneOf(field: string, value: string | undefined, supported: readonly string[]): FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(field, value, supported)];
}

/** Numbers that count something. */
export function nonNegative(field: string, value: number | undefined): FieldError[] {
  return value !== undefined && value < 0 ? [invalidValue(field, value, "must be greater than or equal to 0")] : [];
}

/** A number within bounds that are its own, too. */
export function within(field: string, value: number | undefined, low: number, high: number): FieldError[] {
  if (value === undefined || (value >= low && value <= high)) return [];
  return [invalidValue(field, value, `must be between ${low} and ${high}, inclusive`)];
}

export const MAX_INT32 = 2 ** 31 - 1;

/** Refers to something that is not there. */
export function notFoundValue(field: string, value: string): FieldError {
  return { reason: "FieldValueNotFound", field, message: `Not found: ${quoted(value)}` };
}

/** What may not change once it is there. */
export function immutable(field: string, now: unknown, before: unknown): FieldError[] {
  return deepEqual(now, before) ? [] : [invalidValue(field, now ?? null, "field is immutable")];
}
