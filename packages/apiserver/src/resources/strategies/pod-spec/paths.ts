import type { FieldError } from "@konverge/core";
import { invalidValue } from "@konverge/schema";

/** Paths that never go back up. */
export function backstepErrors(path: string, field: string): FieldError[] {
  return path.split("/").includes("..") ? [invalidValue(field, path, "must not contain '..'")] : [];
}

/** Paths that stay below where they start. */
export function descendingErrors(path: string, field: string): FieldError[] {
  const errors = path.startsWith("/") ? [invalidValue(field, path, "must be a relative path")] : [];
  return [...errors, ...backstepErrors(path, field)];
}

/** The same, and not among the names that nodes use in volumes themselves. */
export function nonReservedErrors(path: string, field: string): FieldError[] {
  const errors = descendingErrors(path, field);
  if (path.startsWith("..") && !path.startsWith("../")) {
    errors.push(invalidValue(field, path, "must not start with '..'"));
  }
  return errors;
}
