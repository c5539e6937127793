import type { Schema } from "@konverge/core";
import type { z } from "zod";
import { annotationOf } from "./annotations.ts";
import { DefinitionError } from "./definition-error.ts";
import { re2PatternOf } from "./re2-pattern.ts";

type Def = z.core.$ZodTypeDef & Partial<z.core.$ZodCheckDef>;
type Check = z.core.$ZodChecks["_zod"]["def"];

/**
 * Writes Zod's checks of a value into its schema, and returns the annotations among them, which have to come last. A
 * format such as z.uuid() or z.int() is a type and a check in one: `def` itself.
 */
export function scalarChecks(def: Def, schema: Schema, path: string): object[] {
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
      schema.multipleOf = Number(check.value);
      return;
    case "min_length":
      schema[schema.type === "array" ? "minItems" : "minLength"] = check.minimum;
      return;
    case "max_length":
      schema[schema.type === "array" ? "maxItems" : "maxLength"] = check.maximum;
      return;
    case "length_equals":
      Object.assign(
        schema,
        schema.type === "array"
          ? { minItems: check.length, maxItems: check.length }
          : { minLength: check.length, maxLength: check.length },
      );
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
        `a CRD cannot run code (.refine, .superRefine, .check); say it in CEL: .check(cel(…))`,
      );
  }
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

/** Zod's string formats that API servers know, by their names there. The others become patterns. */
const FORMATS: Partial<Record<string, string>> = {
  datetime: "date-time",
  date: "date",
  email: "email",
  url: "uri",
  uuid: "uuid",
  guid: "uuid",
  ipv4: "ipv4",
  ipv6: "ipv6",
  base64: "byte",
  hostname: "hostname",
  mac: "mac",
};

function applyStringFormat(check: z.core.$ZodCheckStringFormatDef, schema: Schema, path: string): void {
  const format = FORMATS[check.format];
  if (format !== undefined) {
    if (schema.format !== undefined)
      throw new DefinitionError(path, `both ${schema.format} and ${format}: a field has one format`);
    schema.format = format;
    return;
  }
  if (check.format === "duration") {
    throw new DefinitionError(path, "durations in Kubernetes are written 1h30m, not in ISO 8601; use duration()");
  }
  if (!check.pattern) throw new DefinitionError(path, `${check.format} has no pattern that a CRD could hold`);
  const pattern = re2PatternOf(check.pattern, path);
  if (schema.pattern === undefined) schema.pattern = pattern;
  else schema.allOf = [...(schema.allOf ?? []), { pattern }];
}
