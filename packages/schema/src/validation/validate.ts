import { append, type FieldError, type Schema } from "@konverge/core";
import { validateRules } from "../cel/rules/validate-rules.ts";
import { Correlation } from "../structural/correlation.ts";
import { embeddedErrors } from "../structural/embedded-resources.ts";
import { listTypeErrors } from "../structural/list-types.ts";
import { blockedRules, hasRules } from "../structural/rules.ts";
import { type ScalePaths, scaleErrors } from "../structural/scale-paths.ts";
import { schemaErrors } from "../structural/schema-validator.ts";

export interface ValidateValueOptions {
  /** The previous value, for an update: transition rules apply. */
  old?: unknown;
  /** Ignore errors in unchanged parts of an update, as API servers do since 1.33. Default: true. */
  ratcheting?: boolean;
  /** The path of the value, if it is a part of an object: `status`. */
  path?: string;
  /** The paths of the scale subresource, whose values are checked, too. */
  scale?: ScalePaths;
  /** Called with the errors of rules in unchanged parts: servers return them as warnings. */
  warn?: (warning: string) => void;
}

/**
 * The field errors of a value, as an API server would return them: the schema itself, what the scale subresource needs,
 * embedded resources, the uniqueness of sets and map lists, and CEL rules. The value has to be pruned and defaulted
 * before. Metadata at the root is not checked: see objectMetaErrors.
 */
export function validateValue(schema: Schema, value: unknown, options: ValidateValueOptions = {}): FieldError[] {
  const { old, path, scale, warn } = options;
  const isUpdate = old !== undefined;
  const ratcheting = options.ratcheting !== false;
  const correlation = isUpdate && ratcheting ? new Correlation(schema, value, old) : undefined;
  const errors = schemaErrors(schema, value, { path, old: correlation });
  if (scale) append(errors, scaleErrors(value, scale));
  append(errors, embeddedErrors(schema, value, path));
  if (!isUpdate || listTypeErrors(schema, old).length === 0) append(errors, listTypeErrors(schema, value, path));
  if (hasRules(schema)) {
    const blocked = blockedRules(errors);
    if (blocked) return [...errors, blocked];
    const findings = validateRules(schema, value, old, { path, ratcheting });
    append(errors, findings.errors);
    if (warn) for (const warning of findings.warnings) warn(warning);
  }
  return errors;
}
