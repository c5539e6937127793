import { append, type FieldError, type Schema } from "@konverge/core";
import { validateRules } from "../cel/rules/validate-rules.ts";
import { Correlation } from "../structural/correlation.ts";
import { embeddedErrors } from "../structural/embedded-resources.ts";
import { listTypeErrors } from "../structural/list-types.ts";
import { blockedRules, hasRules } from "../structural/rules.ts";
import { type ScalePaths, scaleErrors } from "../structural/scale-paths.ts";
import { schemaErrors } from "../structural/schema-validator.ts";

export interface ValidateValueOptions {
  /** What the value was before, when this is an update: rules about transitions apply. */
  old?: unknown;
  /** Forgive errors in what an update leaves as it was. API servers do since 1.33; on unless switched off. */
  ratcheting?: boolean;
  /** Where the value stands when it is only part of an object: `status`. */
  path?: string;
  /** The paths of the scale subresource, if there is one: what they lead to is checked too. */
  scale?: ScalePaths;
  /** Told what rules find in what an update leaves as it was: servers send it as warnings. */
  warn?: (warning: string) => void;
}

/**
 * All that is wrong with a value, as an API server would say it: the schema itself, what the scale subresource needs,
 * embedded resources, the uniqueness of sets and map lists, and CEL rules. The value has to be pruned and defaulted
 * before. Metadata at the root is not the schema's business: see objectMetaErrors.
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
