import { fieldInSchema, JsonPathError, type Schema } from "@konverge/core";
import type { CrdColumn } from "./crd-object.ts";
import { DefinitionError } from "./definition-error.ts";

/** One column of `kubectl get`. */
export interface PrinterColumn {
  readonly jsonPath: string;
  /** Default: the type of the schema at that path. */
  readonly type?: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, higher ones only with `-o wide`. */
  readonly priority?: number;
}

/** A column, or just its JSONPath: `.spec.replicas`. */
export type PrinterColumnDefinition = string | PrinterColumn;

/** Shows the status of a condition: `conditionColumn("Ready")`. */
export function conditionColumn(type: string): PrinterColumn {
  return { jsonPath: `.status.conditions[?(@.type=="${type}")].status`, type: "string" };
}

/** Shows how long ago the object was created. */
export const ageColumn: PrinterColumn = { jsonPath: ".metadata.creationTimestamp", type: "date" };

/** Shows a column only with `-o wide`. */
export function wideColumn(column: PrinterColumnDefinition): PrinterColumn {
  return { ...(typeof column === "string" ? { jsonPath: column } : column), priority: 1 };
}

/** A column as a CRD writes it. */
export function crdColumn(name: string, column: PrinterColumnDefinition, schema: Schema): CrdColumn {
  const { jsonPath, type, ...rest } = typeof column === "string" ? { jsonPath: column } : column;
  const at = `columns.${name}`;
  if (!jsonPath.startsWith(".")) throw new DefinitionError(at, `${jsonPath} must start with a dot`);
  return { name, type: type ?? columnType(jsonPath, schema, at), jsonPath, ...rest };
}

/** The printer type of a plain path; whatever is reached through an index or a filter prints as a string. */
function columnType(jsonPath: string, schema: Schema, at: string): string {
  if (jsonPath.startsWith(".metadata.")) return jsonPath.endsWith("Timestamp") ? "date" : "string";
  if (!/^(\.[A-Za-z0-9_-]+)+$/.test(jsonPath)) return "string";
  try {
    const node = fieldInSchema(jsonPath, schema).schema;
    if (node?.format === "date-time") return "date";
    const type = node?.type;
    return type === "integer" || type === "number" || type === "boolean" ? type : "string";
  } catch (error) {
    if (error instanceof JsonPathError) throw new DefinitionError(at, `${jsonPath} ${error.message}`);
    throw error;
  }
}
