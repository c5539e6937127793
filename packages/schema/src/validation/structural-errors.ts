import { append, type FieldError, type Schema } from "@konverge/core";
import { checkRules } from "../cel/rules/check-rules.ts";
import { forbidden, invalidValue } from "../structural/field-errors.ts";
import { openApiErrors } from "../structural/openapi-errors.ts";
import type { PatternBudget } from "../structural/pattern.ts";
import { type RawSchema, unsupportedKeyword } from "../structural/raw-schema.ts";
import { structuralInvariantErrors } from "../structural/structural-invariants.ts";
import { defaultErrors } from "./default-errors.ts";

export interface StructuralOptions {
  /** The path of the schema, for error messages. */
  path?: string;
  /** The version has a status subresource, whose schema is cut out of this one: fewer keywords are allowed at the root. */
  hasStatus?: boolean;
  /** Do not check the cost of rules, because they existed before. */
  allowsExpensive?: boolean;
  /** Shared by the versions of a definition. */
  patterns?: PatternBudget;
}

/** Why an API server would reject a CRD with this schema: not structural, unsupported keywords, invalid defaults. */
export function structuralErrors(schema: Schema, options: StructuralOptions = {}): FieldError[] {
  const raw = schema as RawSchema;
  const { path = "openAPIV3Schema" } = options;
  const errors = options.hasStatus ? statusRootErrors(raw, path) : [];
  if (raw.nullable) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  const unsupported = unsupportedKeyword(raw);
  if (unsupported === undefined) {
    const invariants = structuralInvariantErrors(raw, path, options.patterns);
    append(errors, invariants.length > 0 ? invariants : defaultErrors(schema, path));
  }
  append(errors, openApiErrors(raw, path));
  // Rules are compiled for the types that a schema gives, so the schema has to be right first.
  if (errors.length === 0 && unsupported === undefined) {
    append(errors, checkRules(schema, { path, allowsExpensive: options.allowsExpensive }));
  }
  return errors.length === 0 && unsupported !== undefined ? [invalidValue(path, "", unsupported)] : errors;
}

/** The fields of Go's JSONSchemaProps that may be set at the root of a schema with a status, by their names in JSON. */
const ALLOWED_AT_ROOT = {
  Description: "description",
  Type: "type",
  Format: "format",
  Title: "title",
  Maximum: "maximum",
  ExclusiveMaximum: "exclusiveMaximum",
  Minimum: "minimum",
  ExclusiveMinimum: "exclusiveMinimum",
  MaxLength: "maxLength",
  MinLength: "minLength",
  Pattern: "pattern",
  MaxItems: "maxItems",
  MinItems: "minItems",
  UniqueItems: "uniqueItems",
  MultipleOf: "multipleOf",
  Required: "required",
  Items: "items",
  Properties: "properties",
  ExternalDocs: "externalDocs",
  Example: "example",
  XPreserveUnknownFields: "x-kubernetes-preserve-unknown-fields",
  XValidations: "x-kubernetes-validations",
};

function statusRootErrors(schema: RawSchema, path: string): FieldError[] {
  if (schema.type !== undefined && schema.type !== "object") {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidValue(`${path}.type`, schema.type, detail)];
  }
  const allowed = new Set(Object.values(ALLOWED_AT_ROOT));
  const isStranger = ([keyword, value]: [string, unknown]) => {
    return !allowed.has(keyword) && value !== undefined && value !== false && value !== null;
  };
  if (!Object.entries(schema).some(isStranger)) return [];
  const names = Object.keys(ALLOWED_AT_ROOT).join(" ");
  const detail = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidValue(path, schema, detail)];
}
