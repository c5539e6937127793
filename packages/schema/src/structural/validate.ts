import type { FieldError, Schema } from "@konverge/core";
import { Correlation } from "./correlation.ts";
import { embeddedErrors } from "./embedded-resources.ts";
import { listTypeErrors } from "./list-types.ts";
import { blockedRules, hasRules, type RuleCheck } from "./rules.ts";
import { type ScalePaths, scaleErrors } from "./scale-paths.ts";
import { schemaErrors } from "./schema-validator.ts";

export interface ValidateOptions {
  /** What the value was before, when this is an update: rules about transitions apply. */
  old?: unknown;
  /** Forgive errors in what an update leaves as it was. API servers do since 1.33; on unless switched off. */
  ratcheting?: boolean;
  /** Where the value stands when it is only part of an object: `status`. */
  path?: string;
  /** The paths of the scale subresource, if there is one: what they lead to is checked too. */
  scale?: ScalePaths;
  /** Evaluates CEL rules. */
  rules?: RuleCheck;
}

/**
 * All that is wrong with a value, as an API server would say it: the schema itself, what the scale subresource needs,
 * embedded resources, the uniqueness of sets and map lists, and CEL rules. The value has to be pruned and defaulted
 * before. Metadata at the root is not the schema's business: see objectMetaErrors.
 */
export function validate(schema: Schema, value: unknown, options: ValidateOptions = {}): FieldError[] {
  const { old, path, scale, rules } = options;
  const isUpdate = old !== undefined;
  const ratcheting = options.ratcheting !== false;
  const correlation = isUpdate && ratcheting ? new Correlation(schema, value, old) : undefined;
  const errors = schemaErrors(schema, value, { path, old: correlation });
  if (scale) errors.push(...scaleErrors(value, scale));
  errors.push(...embeddedErrors(schema, value, path));
  if (!isUpdate || listTypeErrors(schema, old).length === 0) errors.push(...listTypeErrors(schema, value, path));
  if (hasRules(schema)) {
    const blocked = blockedRules(errors);
    errors.push(...(blocked ? [blocked] : (rules?.(schema, value, old, { path, ratcheting }) ?? [])));
  }
  return errors;
}
