import { append, deepCopy, deepEqual, type FieldError, isObject, type Schema } from "@konverge/core";
import { ruleErrors } from "../cel/rules/validate-rules.ts";
import { coerceEmbedded, embeddedErrors } from "../structural/embedded-resources.ts";
import { invalidValue } from "../structural/field-errors.ts";
import { pruneDefault } from "../structural/pruning.ts";
import { hasRules } from "../structural/rules.ts";
import { schemaErrors } from "../structural/schema-validator.ts";

/** Checks that the defaults in a structural schema obey the schema themselves, and name no unknown fields. */
export function defaultErrors(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, path, { isInMeta: false, isRoot: true }, errors);
  return errors;
}

interface Context {
  isInMeta: boolean;
  isRoot: boolean;
  /** Builds the resource around a default inside its metadata. */
  surround?: (value: unknown) => unknown;
}

function visit(schema: Schema, path: string, context: Context, errors: FieldError[]): void {
  const isResource = context.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const { surround } = isResource ? { surround: resource } : context;
  const isInMeta = context.isInMeta && !isResource;
  if (schema.default !== undefined && schema.default !== null) {
    append(errors, valueErrors(schema, `${path}.default`, isInMeta ? surround : undefined));
  }
  const nested = (inner: (value: unknown) => unknown) => (value: unknown) => surround?.(inner(value));
  if (schema.items) {
    const next = { isInMeta, isRoot: false, surround: nested((value) => [value]) };
    visit(schema.items, `${path}.items`, next, errors);
  }
  const { properties } = schema;
  for (const name in properties) {
    const isMeta = isResource && (name === "metadata" || name === "apiVersion" || name === "kind");
    const next = { isInMeta: isInMeta || isMeta, isRoot: false, surround: nested((value) => ({ [name]: value })) };
    visit(properties[name]!, `${path}.properties[${name}]`, next, errors);
  }
}

/** A resource with the given fields, and all that any resource needs. */
function resource(fields: unknown): unknown {
  return { apiVersion: "validation/v1", kind: "Validation", ...(isObject(fields) ? fields : {}) };
}

function valueErrors(schema: Schema, path: string, surround: ((value: unknown) => unknown) | undefined): FieldError[] {
  const value = deepCopy(schema.default);
  const errors: FieldError[] = [];
  if (surround) {
    const root: Schema = { type: "object", "x-kubernetes-embedded-resource": true };
    const around = surround(value);
    const coerced = coerceEmbedded(root, around);
    const problems = "error" in coerced ? [coerced.error] : embeddedErrors(root, around);
    if (problems.length > 0) {
      const texts = problems.map(({ field, message }) => `${field}: ${message}`);
      const detail = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
      return [invalidValue(path, schema.default, `must result in valid metadata: ${detail}`)];
    }
  } else {
    const pruned = deepCopy(value);
    pruneDefault(schema, pruned);
    if (!deepEqual(pruned, value)) errors.push(invalidValue(path, value, "must not have unknown fields"));
    const coerced = coerceEmbedded(schema, value);
    if ("error" in coerced) return [...errors, { ...coerced.error, field: join(path, coerced.error.field) }];
    const embedded = embeddedErrors(schema, value, path);
    if (embedded.length > 0) return [...errors, ...embedded];
  }
  const problems = schemaErrors(schema, value, { path });
  if (problems.length > 0) return [...errors, ...problems];
  if (!hasRules(schema)) return errors;
  // A default can take the place of nothing, or stay what it is.
  const unchanged = ruleErrors(schema, value, value, { path, ratcheting: false });
  if (unchanged.length > 0) return [...errors, ...unchanged];
  return [...errors, ...ruleErrors(schema, value, undefined, { path, ratcheting: false })];
}

function join(path: string, field: string): string {
  return field.startsWith("[") ? `${path}${field}` : `${path}.${field.replace(/^\./, "")}`;
}
