/** One column of `kubectl get`. */
export interface Column {
  jsonPath: string;
  /** Left out, it is taken from the schema at that path. */
  type?: "string" | "integer" | "number" | "boolean" | "date";
  format?: string;
  description?: string;
  /** 0 is always shown, higher ones only with `-o wide`. */
  priority?: number;
}

/** A column, or just its JSONPath. */
export type ColumnDefinition = string | Column;

/** Shows the status of a condition: `condition("Ready")`. */
export function condition(type: string): Column {
  return { jsonPath: `.status.conditions[?(@.type=="${type}")].status`, type: "string" };
}

/** Shows how long ago the object was created. */
export const age: Column = { jsonPath: ".metadata.creationTimestamp", type: "date" };
