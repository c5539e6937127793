import type { AnyObject, Schema } from "@konverge/core";
import { type AnyKind, applyDefaults, validateValue } from "@konverge/schema";

/** Texts that are tried in this order: most patterns and formats accept one of them. */
export const TEXTS = [
  "sample",
  "1",
  "1Gi",
  "10s",
  "example.com/sample",
  "https://example.com",
  "2026-01-01T00:00:00Z",
  "0 0 * * *",
  "00000000-0000-4000-8000-000000000000",
];

/**
 * The simplest object of a kind: the fields that its schema requires, each with its default, its first enum value or its
 * smallest value. If CEL rules reject that, optional fields are added that make it valid. An admission webhook may still
 * reject it.
 */
export function sampleObject(kind: AnyKind): AnyObject {
  const { group, version, schema } = kind;
  const spec = schema.properties?.["spec"];
  const sample = {
    apiVersion: `${group}/${version}`,
    kind: kind.kind,
    metadata: { name: "sample" },
    ...(spec && { spec: simplestValue(spec) }),
  };
  return spec ? repaired(schema, spec, sample) : sample;
}

/** The simplest value that a schema accepts, as far as types, bounds, enums and patterns tell. */
export function simplestValue(schema: Schema): unknown {
  if (schema.default !== undefined) return structuredClone(schema.default);
  if (schema.enum && schema.enum.length > 0) return schema.enum[0];
  if (schema["x-kubernetes-int-or-string"]) return 1;
  switch (schema.type) {
    case "object": {
      const required = schema.required ?? [];
      return Object.fromEntries(required.map((name) => [name, simplestValue(schema.properties?.[name] ?? {})]));
    }
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => simplestValue(schema.items ?? {}));
    case "integer":
    case "number":
      return simplestNumber(schema);
    case "boolean":
      return false;
    case "string": {
      const texts = TEXTS.map((text) => text.padEnd(schema.minLength ?? 0, "x").slice(0, schema.maxLength));
      return texts.find((text) => validateValue(schema, text).length === 0) ?? texts[0];
    }
    default:
      return {};
  }
}

function simplestNumber(schema: Schema): number {
  const { minimum, exclusiveMinimum, maximum = 1 } = schema;
  if (minimum === undefined || minimum < 1) return Math.min(1, maximum);
  return exclusiveMinimum ? minimum + 1 : minimum;
}

/** Whether a kind's schema accepts an object, its CEL rules included. `old`: as an update of that. */
export function isValid(schema: Schema, object: object, old?: object): boolean {
  return problems(schema, object, old) === 0;
}

function problems(schema: Schema, object: object, old?: object): number {
  const whole = structuredClone(object);
  applyDefaults(schema, whole);
  return validateValue(schema, whole, old ? { old } : {}).length;
}

/** Adds optional fields of the spec as long as each one leaves fewer errors. */
function repaired(schema: Schema, spec: Schema, sample: AnyObject): AnyObject {
  let [best, errors] = [sample, problems(schema, sample)];
  while (errors > 0) {
    const better = Object.entries(spec.properties ?? {})
      .filter(([name]) => (best["spec"] as Record<string, unknown>)[name] === undefined)
      .map(([name, field]) => ({ ...best, spec: { ...(best["spec"] as object), [name]: present(field) } }))
      .find((candidate) => problems(schema, candidate) < errors);
    if (!better) break;
    [best, errors] = [better, problems(schema, better)];
  }
  return best;
}

/** A value that says something: a list with one item rather than none. */
function present(schema: Schema): unknown {
  const value = simplestValue(schema);
  return Array.isArray(value) && value.length === 0 && schema.items ? [simplestValue(schema.items)] : value;
}
