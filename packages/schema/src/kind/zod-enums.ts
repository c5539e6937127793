import type { Schema } from "@konverge/core";
import { DefinitionError } from "./definition-error.ts";

/** A schema that allows these values and no others. */
export function enumeration(values: readonly unknown[], path: string): Schema {
  const distinct = [...new Set(values)];
  const others = distinct.filter((value) => value !== null);
  const schema: Schema = { type: typeOf(others, path), enum: others };
  if (others.length < distinct.length) allowNull(schema);
  return schema;
}

function typeOf(values: readonly unknown[], path: string): Schema["type"] {
  if (values.length > 0) {
    if (values.every((value) => typeof value === "string")) return "string";
    if (values.every((value) => typeof value === "boolean")) return "boolean";
    if (values.every(Number.isInteger)) return "integer";
    if (values.every((value) => typeof value === "number")) return "number";
  }
  const types = [...new Set(values.map((value) => typeof value))].join(" and ");
  throw new DefinitionError(path, `the values of an enumeration must be of one JSON type, not ${types || "none"}`);
}

/**
 * Allows a null. API servers hold nulls against an enumeration too, and no enumeration matches one, not even one that
 * has a null; below an allOf it only concerns other values.
 */
export function allowNull(schema: Schema): void {
  schema.nullable = true;
  if (!schema.enum) return;
  schema.allOf = [...(schema.allOf ?? []), { enum: schema.enum }];
  delete schema.enum;
}
