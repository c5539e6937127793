import { deepCopy, isObject, type JsonObject, type Schema } from "@konverge/core";
import fc from "fast-check";

/**
 * Values that a schema mostly allows, made from the schema itself. CEL rules and the finer points of alternatives are
 * not looked at: what matters is that both servers are asked about the same, plausible things.
 */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const plain = plainValue(schema);
  return schema.nullable
    ? fc.oneof({ weight: 6, arbitrary: plain }, { weight: 1, arbitrary: fc.constant(null) })
    : plain;
}

function plainValue(schema: Schema): fc.Arbitrary<unknown> {
  const values = schema.enum ?? schema.allOf?.find((part) => part.enum)?.enum;
  if (values) return fc.constantFrom(...values);
  if (schema["x-kubernetes-int-or-string"]) return fc.oneof(integer(schema), text(schema));
  if (schema["x-kubernetes-embedded-resource"]) return resource(schema);
  switch (schema.type) {
    case "integer":
      return integer(schema);
    case "number":
      return fc.oneof(integer(schema), decimal(schema));
    case "boolean":
      return fc.boolean();
    case "string":
      return text(schema);
    case "array":
      return list(schema);
    case "object":
      return object(schema);
    default:
      return ANYTHING;
  }
}

const ANYTHING: fc.Arbitrary<unknown> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: -9, max: 9 }),
  fc.constantFrom("", "x", "yes"),
  fc.constantFrom([], [1, null], {}, { a: null, b: { c: [1] } }),
);

function integer({ minimum = -20, maximum = 20, multipleOf = 1 }: Schema): fc.Arbitrary<number> {
  const step = Math.max(1, Math.trunc(multipleOf));
  const [low, high] = [Math.ceil(Math.max(minimum, -1e6) / step), Math.floor(Math.min(maximum, 1e6) / step)];
  return fc.integer({ min: Math.min(low, high), max: Math.max(low, high) }).map((number) => number * step);
}

function decimal({ minimum = -4, maximum = 4 }: Schema): fc.Arbitrary<number> {
  return fc.integer({ min: Math.ceil(minimum * 8), max: Math.floor(maximum * 8) }).map((number) => number / 8);
}

const SAMPLES: Record<string, string[]> = {
  "date-time": ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+01:00"],
  date: ["2026-01-02"],
  email: ["jo@example.com"],
  uri: ["https://example.com/x?y=z", "http://localhost:8080", "s3://bucket/key"],
  uuid: ["123e4567-e89b-12d3-a456-426614174000"],
  uuid4: ["123e4567-e89b-42d3-a456-426614174000"],
  ipv4: ["10.0.0.1"],
  ipv6: ["fe80::1"],
  mac: ["01:23:45:67:89:ab"],
  hostname: ["a.example.com"],
  byte: ["aGVsbG8="],
  duration: ["1h30m", "250ms", "2h"],
};

function text(schema: Schema): fc.Arbitrary<string> {
  const samples = SAMPLES[schema.format ?? ""];
  if (samples) return fc.constantFrom(...samples);
  if (schema.pattern !== undefined) {
    const flags = /^\(\?([ims]+)\)/.exec(schema.pattern);
    const source = schema.pattern.slice(flags?.[0].length ?? 0).replace(/\\x\{([0-9a-f]+)\}/gi, "\\u{$1}");
    return fc.stringMatching(new RegExp(source, `u${flags?.[1]?.replace("i", "") ?? ""}`), { size: "small" });
  }
  const { minLength = 0, maxLength = 12 } = schema;
  const max = Math.max(minLength, Math.min(maxLength, minLength + 8));
  return fc.string({ minLength, maxLength: max, unit: fc.constantFrom("a", "b", "z", "0", "9", "-", "é", "😀") });
}

function list(schema: Schema): fc.Arbitrary<unknown> {
  const { minItems = 0, maxItems = 4 } = schema;
  return fc.array(valuesOf(schema.items ?? {}), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) });
}

function object(schema: Schema): fc.Arbitrary<JsonObject> {
  const { properties, additionalProperties, anyOf = [] } = schema;
  if (!properties) {
    const values = typeof additionalProperties === "object" ? valuesOf(additionalProperties) : ANYTHING;
    return fc.dictionary(fc.constantFrom("a", "b", "key-1", "Upper"), values, {
      minKeys: schema.minProperties ?? 0,
      maxKeys: 3,
      noNullPrototype: true,
    });
  }
  const named = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valuesOf(property)])),
    { requiredKeys: schema.required?.filter((name) => name in properties) ?? [], noNullPrototype: true },
  );
  if (anyOf.length === 0) return named;
  return fc.tuple(named, fc.constantFrom(...anyOf)).chain(([value, part]) => alternative(value, part, properties));
}

/** An object changed so that it fits one of its alternatives. */
function alternative(
  value: JsonObject,
  part: Schema,
  properties: NonNullable<Schema["properties"]>,
): fc.Arbitrary<JsonObject> {
  const result = { ...value };
  for (const absent of part.not?.anyOf ?? (part.not ? [part.not] : []))
    for (const name of absent.required ?? []) delete result[name];
  for (const [name, condition] of Object.entries(part.properties ?? {}))
    if (condition.enum) result[name] = condition.enum[0];
  const missing = (part.required ?? []).filter((name) => !(name in result));
  return fc
    .record(Object.fromEntries(missing.map((name) => [name, valuesOf(properties[name]!)])))
    .map((added) => ({ ...result, ...added }));
}

function resource(schema: Schema): fc.Arbitrary<JsonObject> {
  const fixed = (name: string, otherwise: string) => schema.properties?.[name]?.enum?.[0] ?? otherwise;
  return fc.record(
    {
      apiVersion: fc.constant(fixed("apiVersion", "apps/v1")),
      kind: fc.constant(fixed("kind", "Deployment")),
      metadata: fc.constantFrom<object>(
        {},
        { name: "x", labels: { a: "b" } },
        { name: "Not/Valid" },
        { labels: { "a b": "c" } },
      ),
      spec: fc.constantFrom({}, { replicas: 1 }),
    },
    { requiredKeys: ["apiVersion", "kind"], noNullPrototype: true },
  );
}

const JUNK: fc.Arbitrary<unknown> = fc.constantFrom<unknown[]>(
  null,
  "",
  "junk",
  "x".repeat(400),
  0,
  -1,
  1.5,
  1e10,
  true,
  [],
  [null],
  ["a", "a"],
  {},
  { unknown: 1 },
);

/** A value with one of its parts replaced, removed, repeated, or joined by something unknown. */
export function mutationOf(value: unknown): fc.Arbitrary<unknown> {
  const places = placesIn(value);
  return fc
    .tuple(fc.constantFrom(...places), fc.constantFrom("replace", "remove", "add", "repeat"), JUNK)
    .map(([path, how, junk]) => {
      const copy = deepCopy({ root: value });
      let parent: JsonObject | unknown[] = copy as JsonObject;
      for (const key of path.slice(0, -1)) parent = (parent as Record<string | number, unknown>)[key] as typeof parent;
      const key = path.at(-1)!;
      const target = (parent as Record<string | number, unknown>)[key];
      if (how === "add" && isObject(target)) target["surprise"] = junk;
      else if (how === "repeat" && Array.isArray(target) && target.length > 0) target.push(target[0]);
      else if (how === "remove" && isObject(parent) && path.length > 1) delete parent[key];
      else (parent as Record<string | number, unknown>)[key] = junk;
      return copy.root;
    });
}

function placesIn(value: unknown, path: (string | number)[] = ["root"]): (string | number)[][] {
  const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return [path, ...entries.flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}
