import { quoted, type Schema } from "@konverge/core";
import { internal } from "./refusals.ts";

/** What a strategic merge patch must know of a field. */
export interface PatchField {
  /** Of the field's value or, for a list, of its items. */
  schema: Schema;
  /** `merge`, `replace` or nothing: maps then merge and lists are replaced. */
  strategy: string;
  /** The key that distinguishes items of a list; empty for a list of scalars. */
  mergeKey: string;
}

/** How to patch an object in the field `name`. */
export function objectField(parent: Schema, name: string): PatchField {
  if (!parent.properties) {
    throw internal(`merging an object in json but data type is not struct, instead is: ${goKind(parent)}`);
  }
  const schema = Object.hasOwn(parent.properties, name) ? parent.properties[name] : undefined;
  if (!schema) {
    const struct = parent.title ?? "";
    throw internal(`unable to find api field in struct ${struct} for the json field ${quoted(name)}`);
  }
  return { schema, strategy: strategyOf(schema), mergeKey: schema.go?.patch?.mergeKey ?? "" };
}

/** How to patch a list in the field `name`. */
export function listField(parent: Schema, name: string): PatchField {
  const field = objectField(parent, name);
  const { items } = field.schema;
  if (field.schema.type !== "array" || !items) {
    throw internal(`expected slice or array type, but got: ${goKind(parent)}`);
  }
  if (items.type === "array") throw internal("unexpected slice of slice");
  return { ...field, schema: items };
}

function strategyOf(schema: Schema): string {
  const strategies = schema.go?.patch?.strategy?.split(",") ?? [];
  return strategies.find((strategy) => strategy !== "retainKeys") ?? "";
}

/** The Go kind behind a schema, as messages name it. */
export function goKind(schema: Schema): string {
  if (schema.properties) return "struct";
  if (schema.type === "array") return "slice";
  if (schema.type === "object") return schema.additionalProperties ? "map" : "struct";
  if (schema.type === "integer") return schema.format === "int32" ? "int32" : "int64";
  if (schema.type === "number") return "float64";
  return schema.type === "boolean" ? "bool" : (schema.type ?? "struct");
}
