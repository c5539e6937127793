import { deepCopy, isObject, type Schema } from "@konverge/core";
import { put } from "../json-value.ts";
import { fieldSchema, propertySchema, valuesSchema } from "./schema-fields.ts";

/**
 * Fills in defaults, in place, and returns the value. As API servers do it: a default is applied where its parent
 * exists, and the defaults inside a default's value are applied too; a null in a field that is not nullable counts as
 * missing.
 */
export function applyDefaults<T>(schema: Schema, value: T): T {
  if (typeof value === "object" && value !== null) fill(planOf(schema), value);
  return value;
}

/** What of a schema has to do with defaults: most of it has nothing. Made when first looked at: schemas are recursive. */
interface Plan {
  readonly schema: Schema;
  /** The fields with a default. */
  readonly defaults: readonly (readonly [name: string, schema: Schema])[];
  /** Of fields that have been met: where to go on, and null where there is nothing to do. */
  readonly fields: Map<string, Plan | null>;
  readonly items: Schema | undefined;
  readonly values: Schema | undefined;
}

const plans = new WeakMap<Schema, Plan>();

function planOf(schema: Schema): Plan {
  let plan = plans.get(schema);
  if (!plan) {
    const { properties = {}, items } = schema;
    const defaults: [string, Schema][] = [];
    for (const name in properties) {
      if ((properties[name]!.default ?? null) !== null) defaults.push([name, properties[name]!]);
    }
    plan = { schema, defaults, fields: new Map(), items, values: valuesSchema(schema) };
    plans.set(schema, plan);
  }
  return plan;
}

function fill(plan: Plan, value: object): void {
  if (Array.isArray(value)) {
    if (plan.items) fillItems(plan.items, value);
  } else if (isObject(value)) {
    for (const [name, property] of plan.defaults) {
      if (!Object.hasOwn(value, name) || isForbiddenNull(value[name], property)) {
        put(value, name, deepCopy(property.default));
      }
    }
    const { values } = plan;
    for (const name in value) {
      const own = fieldPlan(plan, name);
      const item = value[name];
      if (own) {
        if (typeof item === "object" && item !== null) fill(own, item);
      } else if (values && own === undefined) {
        if (isForbiddenNull(item, values)) put(value, name, deepCopy(values.default ?? null));
        applyDefaults(values, value[name]);
      }
    }
  }
}

function fillItems(schema: Schema, list: unknown[]): void {
  for (let i = 0; i < list.length; i++) {
    if (isForbiddenNull(list[i], schema)) list[i] = deepCopy(schema.default ?? null);
    applyDefaults(schema, list[i]);
  }
}

/** Whether {@link applyDefaults} would fill anything in. */
export function lacksDefaults(schema: Schema, value: unknown): boolean {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items !== undefined && value.some((item) => isReplacedNull(item, items) || lacksDefaults(items, item));
  }
  if (!isObject(value)) return false;
  const plan = planOf(schema);
  for (const [name, property] of plan.defaults) {
    if (!Object.hasOwn(value, name) || isForbiddenNull(value[name], property)) return true;
  }
  for (const name in value) {
    const own = fieldPlan(plan, name);
    if (own === null || (own === undefined && !plan.values)) continue;
    if (!own && isReplacedNull(value[name], plan.values!)) return true;
    if (lacksDefaults(own ? own.schema : plan.values!, value[name])) return true;
  }
  return false;
}

/** The plan of a field's value; null where it can have no defaults, undefined for a field that is not declared. */
function fieldPlan(plan: Plan, name: string): Plan | null | undefined {
  const known = plan.fields.get(name);
  if (known !== undefined) return known;
  const own = propertySchema(plan.schema, name);
  if (!own) return undefined;
  const found = canHold(own, new Set()) ? planOf(own) : null;
  plan.fields.set(name, found);
  return found;
}

const withDefaults = new WeakMap<Schema, boolean>();

/** Whether there is a default anywhere below a schema. */
function canHold(schema: Schema, above: Set<Schema>): boolean {
  const known = withDefaults.get(schema);
  if (known !== undefined) return known;
  // What contains itself is looked into every time.
  if (above.has(schema) || above.size > DEEPEST) return true;
  above.add(schema);
  const parts = Object.values(schema.properties ?? {});
  if (schema.items) parts.push(schema.items);
  const values = valuesSchema(schema);
  if (values) parts.push(values);
  const found = parts.some((part) => (part.default ?? null) !== null || canHold(part, above));
  above.delete(schema);
  withDefaults.set(schema, found);
  return found;
}

const DEEPEST = 32;

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

/** A null that has a default; without one it stays, and validation reports it. */
function isReplacedNull(value: unknown, schema: Schema): boolean {
  return isForbiddenNull(value, schema) && (schema.default ?? null) !== null;
}

function isForbiddenNull(value: unknown, schema: Schema): boolean {
  return value === null && schema.nullable !== true;
}
