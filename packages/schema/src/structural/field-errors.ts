import { type FieldError, goText, quoted, toGoJson } from "@konverge/core";
import { isNumeric } from "./numbers.ts";

/**
 * Errors about fields, worded as API servers word them: `Invalid value: "x": must be …`. What a path looks like is up
 * to the caller; {@link NO_PATH} is how servers write that there is none.
 */
export const NO_PATH = "<nil>";

/** A field that must be set and is not: `Required value`. */
export function required(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: withDetail("Required value", detail) };
}

/** A field with a value that it must not have: `Invalid value: -1: must not be negative`. */
export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return worded("FieldValueInvalid", field, () => withDetail(`Invalid value: ${shown(value)}`, detail));
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return worded("FieldValueTypeInvalid", field, () => withDetail(`Invalid value: ${shown(value)}`, detail));
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  return worded("FieldValueNotSupported", field, () => {
    const detail = supported.length === 0 ? "" : `supported values: ${supported.map(quoted).join(", ")}`;
    return withDetail(`Unsupported value: ${shown(value)}`, detail);
  });
}

/** A field that must not be set, or not be changed: `Forbidden: must not shrink`. */
export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: withDetail("Forbidden", detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
  return worded("FieldValueDuplicate", field, () => `Duplicate value: ${shown(value)}`);
}

export function tooLong(field: string, limit: number): FieldError {
  const bytes = limit === 1 ? "byte" : "bytes";
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${limit} ${bytes}` };
}

export function tooMany(field: string, count: number, limit: number): FieldError {
  const items = limit === 1 ? "item" : "items";
  return { reason: "FieldValueTooMany", field, message: `Too many: ${count}: must have at most ${limit} ${items}` };
}

/**
 * An error whose message is built when it is read. Many show a whole list, and there can be one for each of its items:
 * only the first are ever reported.
 */
function worded(reason: FieldError["reason"], field: string, words: () => string): FieldError {
  let text: string | undefined;
  return {
    reason,
    field,
    get message() {
      text ??= words();
      return text;
    },
  };
}

function withDetail(message: string, detail: string): string {
  return detail === "" ? message : `${message}: ${detail}`;
}

/** A value as it stands in a message: scalars as Go prints them, all else as JSON. */
function shown(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  return isNumeric(value) ? goText(value) : toGoJson(value ?? null);
}
