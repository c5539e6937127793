import { append, type FieldError, isObject, type JsonObject, type Schema, toGoJson } from "@konverge/core";
import { duplicate, invalidValue } from "./field-errors.ts";
import { propertySchema, valuesSchema } from "./schema-fields.ts";

/** Checks that the items of sets, and the keys of map lists, are unique. */
export function listTypeErrors(schema: Schema, value: unknown, path = ""): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, path, errors);
  return errors;
}

function visit(schema: Schema, value: unknown, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    const type = schema["x-kubernetes-list-type"];
    if (type === "set") {
      for (const index of repeated(value)) errors.push(duplicate(`${path}[${index}]`, value[index]));
    } else if (type === "map") append(errors, keyErrors(schema, value, path));
    const { items } = schema;
    if (items) value.forEach((item, index) => void visit(items, item, `${path}[${index}]`, errors));
  } else if (isObject(value)) {
    const values = valuesSchema(schema);
    for (const name of Object.keys(value)) {
      if (values) visit(values, value[name], `${path}[${name}]`, errors);
      const property = propertySchema(schema, name);
      if (property) visit(property, value[name], path === "" ? name : `${path}.${name}`, errors);
    }
  }
}

function keyErrors(schema: Schema, value: unknown[], path: string): FieldError[] {
  const stranger = value.findIndex((item) => item !== null && !isObject(item));
  if (stranger >= 0) {
    return [invalidValue(`${path}[${stranger}]`, value[stranger], "must be an object for an array of list-type map")];
  }
  const keys = value.map((item) => keyOf(schema, item as JsonObject | null));
  return repeated(keys).map((index) => duplicate(`${path}[${index}]`, keys[index]));
}

function keyOf(schema: Schema, item: JsonObject | null): JsonObject {
  const key: JsonObject = {};
  for (const name of schema["x-kubernetes-list-map-keys"] ?? []) {
    if (item && Object.hasOwn(item, name)) key[name] = item[name];
  }
  return key;
}

/** The indices at which values occur for the second time. */
function repeated(values: readonly unknown[]): number[] {
  if (values.length < 2) return [];
  const counts = new Map<string, number>();
  const indices: number[] = [];
  values.forEach((value, index) => {
    const text = toGoJson(value);
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    if (count === 2) indices.push(index);
  });
  return indices;
}
