import type { Schema } from "@konverge/core";
import type { z } from "zod";
import { annotationOf } from "./annotations.ts";
import { DefinitionError } from "./definition-error.ts";
import { applyStringFormat } from "./zod-string-formats.ts";

type Def = z.core.$ZodTypeDef & Partial<z.core.$ZodCheckDef>;
type Check = z.core.$ZodChecks["_zod"]["def"];

/**
 * Writes Zod's checks of a value into its schema, and returns the annotations among them. A format such as z.uuid() or
 * z.int() is a type and a check in one: `def` itself.
 */
export function applyChecks(def: Def, schema: Schema, path: string): object[] {
  const annotations: object[] = [];
  if (def.check !== undefined) apply(def as unknown as Check, schema, path);
  for (const check of def.checks ?? []) {
    if (annotationOf(check)) annotations.push(check);
    else apply(check._zod.def as Check, schema, path);
  }
  return annotations;
}

function apply(check: Check, schema: Schema, path: string): void {
  switch (check.check) {
    case "number_format":
      applyNumberFormat(check.format, schema);
      return;
    case "greater_than":
      applyMinimum(Number(check.value), !check.inclusive, schema);
      return;
    case "less_than":
      applyMaximum(Number(check.value), !check.inclusive, schema);
      return;
    case "multiple_of":
      if (schema.multipleOf === undefined) schema.multipleOf = Number(check.value);
      else schema.allOf = [...(schema.allOf ?? []), { multipleOf: Number(check.value) }];
      return;
    case "min_length":
      atLeast(check.minimum, schema);
      return;
    case "max_length":
      atMost(check.maximum, schema);
      return;
    case "length_equals":
      atLeast(check.length, schema);
      atMost(check.length, schema);
      return;
    case "string_format":
      applyStringFormat(check, schema, path);
      return;
    case "overwrite":
      throw new DefinitionError(
        path,
        "a CRD cannot change a value (trim, toLowerCase …); require the form with .regex()",
      );
    default:
      throw new DefinitionError(
        path,
        "a CRD cannot run code (.refine, .superRefine, .check); say it in CEL: .check(cel(…))",
      );
  }
}

function atLeast(length: number, schema: Schema): void {
  const keyword = schema.type === "array" ? "minItems" : "minLength";
  schema[keyword] = Math.max(schema[keyword] ?? 0, length);
}

function atMost(length: number, schema: Schema): void {
  const keyword = schema.type === "array" ? "maxItems" : "maxLength";
  schema[keyword] = Math.min(schema[keyword] ?? Number.POSITIVE_INFINITY, length);
}

function applyMinimum(value: number, exclusive: boolean, schema: Schema): void {
  if (schema.minimum !== undefined && (schema.minimum > value || (schema.minimum === value && !exclusive))) return;
  schema.minimum = value;
  if (exclusive) schema.exclusiveMinimum = true;
  else delete schema.exclusiveMinimum;
}

function applyMaximum(value: number, exclusive: boolean, schema: Schema): void {
  if (schema.maximum !== undefined && (schema.maximum < value || (schema.maximum === value && !exclusive))) return;
  schema.maximum = value;
  if (exclusive) schema.exclusiveMaximum = true;
  else delete schema.exclusiveMaximum;
}

function applyNumberFormat(format: z.core.$ZodNumberFormats, schema: Schema): void {
  switch (format) {
    case "safeint":
      schema.type = "integer";
      schema.format ??= "int64";
      return;
    case "int32":
      Object.assign(schema, { type: "integer", format: "int32" });
      return;
    case "uint32":
      Object.assign(schema, { type: "integer", format: "int64" });
      applyMinimum(0, false, schema);
      applyMaximum(2 ** 32 - 1, false, schema);
      return;
    case "float32":
      schema.format = "float";
      return;
    case "float64":
      schema.format = "double";
  }
}
