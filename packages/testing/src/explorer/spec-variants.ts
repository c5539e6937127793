import { type AnyObject, deepCopy, type Schema } from "@konverge/core";
import type { AnyKind } from "@konverge/schema";
import { isValid, simplestValue, TEXTS } from "./sample-object.ts";

/** A spec that differs from another in one field. */
export interface SpecVariant {
  /** `spec.replicas set to 3`. */
  readonly what: string;
  /** The changed field, as a JSON pointer: `/spec/replicas`. */
  readonly pointer: string;
  readonly spec: unknown;
  /** Whether the kind's schema accepts it, as an update; if not, the API server has to reject it. */
  readonly isValid: boolean;
}

/** How many values of a field are tried that the schema accepts, and how many that it rejects. */
const MOST = { valid: 2, invalid: 1 };

type Path = readonly (string | number)[];

/**
 * Specs that a user could change an object's spec to: every field, in every list and map, gets other values of its type within
 * its bounds and its enum; optional fields are added and removed; and each gets a value that the schema rejects.
 */
export function specVariants({ schema }: AnyKind, object: AnyObject): SpecVariant[] {
  const spec = schema.properties?.["spec"];
  if (!spec || typeof object["spec"] !== "object") return [];
  const found: SpecVariant[] = [];
  for (const { path, values } of changes(spec, object["spec"], [])) {
    const count = { valid: 0, invalid: 0 };
    for (const value of values) {
      const changed = withValue(object["spec"], path, value);
      const valid = isValid(schema, { ...object, spec: changed }, object);
      if (++count[valid ? "valid" : "invalid"] > MOST[valid ? "valid" : "invalid"]) continue;
      const done = value === undefined ? "removed" : `set to ${JSON.stringify(value)}`;
      found.push({ what: `${pathText(path)} ${done}`, pointer: pointerTo(path), spec: changed, isValid: valid });
    }
  }
  return found;
}

interface FieldChange {
  readonly path: Path;
  /** Undefined removes the field. */
  readonly values: readonly unknown[];
}

function* changes(schema: Schema, value: unknown, path: Path): Generator<FieldChange> {
  if (Array.isArray(value)) {
    const added = schema.items ? [[...value, simplestValue(schema.items)]] : [];
    yield { path, values: [...(value.length > 0 ? [value.slice(0, -1)] : []), ...added] };
    for (const [i, item] of value.entries()) if (schema.items) yield* changes(schema.items, item, [...path, i]);
    return;
  }
  if (typeof value !== "object" || value === null) {
    yield { path, values: otherValues(schema, value).filter((other) => other !== value) };
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const inner = [...path, name];
    if (fields[name] === undefined) yield { path: inner, values: [presentValue(field)] };
    else {
      yield* changes(field, fields[name], inner);
      if (!schema.required?.includes(name) && field.default === undefined) yield { path: inner, values: [undefined] };
    }
  }
  const { additionalProperties: extra } = schema;
  if (typeof extra !== "object") return;
  yield { path: [...path, "sample"], values: [simplestValue(extra)] };
  for (const [name, inner] of Object.entries(fields)) {
    yield* changes(extra, inner, [...path, name]);
    yield { path: [...path, name], values: [undefined] };
  }
}

/** Values of a field's type, the likeliest first, and some that are out of its bounds. */
function otherValues(schema: Schema, value: unknown): unknown[] {
  if (schema.enum) return [...schema.enum, "no-such-value"];
  switch (typeof value) {
    case "boolean":
      return [!value];
    case "number":
      return [value + 1, schema.minimum ?? value - 1, (schema.minimum ?? 0) - 1, (schema.maximum ?? value) + 1];
    case "string":
      return [`${value}-changed`, ...TEXTS, "", "!"];
    default:
      return [];
  }
}

/** The simplest value that says something: a list or a map with one item rather than none. */
function presentValue(schema: Schema): unknown {
  const value = simplestValue(schema);
  if (Array.isArray(value) && value.length === 0 && schema.items) return [simplestValue(schema.items)];
  const { additionalProperties: extra } = schema;
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return isEmpty && typeof extra === "object" ? { sample: simplestValue(extra) } : value;
}

function withValue(spec: unknown, path: Path, value: unknown): unknown {
  const copy = deepCopy(spec) as Record<string | number, unknown>;
  const last = path.at(-1);
  if (last === undefined) return value;
  const parent = path.slice(0, -1).reduce((at, step) => at[step] as Record<string | number, unknown>, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

/** `spec.workers[0].image`. */
function pathText(path: Path): string {
  return `spec${path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("")}`;
}

function pointerTo(path: Path): string {
  return ["/spec", ...path.map((step) => String(step).replaceAll("~", "~0").replaceAll("/", "~1"))].join("/");
}
