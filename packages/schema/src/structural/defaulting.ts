import { deepCopy, type Schema } from "@konverge/core";
import { isObject, put } from "../patch/index.ts";
import { fieldSchema, propertySchema, valuesSchema } from "./schema-fields.ts";

/**
 * Fills in defaults, in place, and returns the value. As API servers do it: a default is applied where its parent
 * exists, and the defaults inside a default's value are applied too; a null that is not allowed counts as absent.
 */
export function applyDefaults<T>(schema: Schema, value: T): T {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return value;
    value.forEach((item, index) => {
      if (isForbiddenNull(item, items)) value[index] = deepCopy(items.default ?? null);
      applyDefaults(items, value[index]);
    });
  } else if (isObject(value)) {
    const { properties } = schema;
    for (const name in properties) {
      const property = properties[name]!;
      if ((property.default ?? null) === null) continue;
      if (!Object.hasOwn(value, name) || isForbiddenNull(value[name], property)) {
        put(value, name, deepCopy(property.default));
      }
    }
    const values = valuesSchema(schema);
    for (const name of Object.keys(value)) {
      const own = propertySchema(schema, name);
      if (own) applyDefaults(own, value[name]);
      else if (values) {
        if (isForbiddenNull(value[name], values)) put(value, name, deepCopy(values.default ?? null));
        applyDefaults(values, value[name]);
      }
    }
  }
  return value;
}

/**
 * Removes, in place, the fields whose null is neither allowed nor going to be replaced by a default. API servers do
 * this after pruning and before defaulting. Nulls in lists stay: they are left to validation.
 */
export function dropForbiddenNulls(schema: Schema | undefined, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) dropForbiddenNulls(schema?.items, item);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const field = schema && fieldSchema(schema, name);
      if (field && isForbiddenNull(value[name], field) && (field.default ?? null) === null) delete value[name];
      else dropForbiddenNulls(field, value[name]);
    }
  }
}

function isForbiddenNull(value: unknown, schema: Schema): boolean {
  return value === null && schema.nullable !== true;
}
