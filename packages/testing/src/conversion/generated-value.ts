import type { Random, Schema } from "@konverge/core";

/** Texts of the forms that patterns usually ask for. */
const TEXTS = [
  "a",
  "text",
  "a-1",
  "example.com",
  "/data",
  "https://example.com/a",
  "1h30m",
  "500m",
  "2Gi",
  "10",
  "A",
  "A1",
];

/** Texts of formats that the API server checks. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-02T03:04:05Z",
  date: "2026-01-02",
  duration: "1h30m",
  email: "ann@example.com",
  uri: "https://example.com/a",
  uuid: "7f9d4c1e-0b1a-4c39-9a55-1f0f6d5e4a3b",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  byte: "YWJj",
  hostname: "example.com",
  mac: "02:00:5e:10:00:01",
};

const QUANTITIES = ["1", "500m", "2Gi", "1.5"];

/** A value of the form that a schema has; optional fields are there or not. Rules and other patterns may still refuse it. */
export function generatedValue(schema: Schema, random: Random): unknown {
  if (schema.nullable && random.below(8) === 0) return null;
  const values = schema.enum ?? schema.allOf?.find((part) => part.enum)?.enum;
  if (values && values.length > 0) return random.pick(values);
  if (schema["x-kubernetes-int-or-string"]) {
    if (random.below(2) === 0) return wholeNumber(schema, random);
    return schema.pattern === undefined ? random.pick(TEXTS) : random.pick(QUANTITIES);
  }
  switch (schema.type) {
    case "string":
      return text(schema, random);
    case "boolean":
      return random.below(2) === 0;
    case "integer":
      return wholeNumber(schema, random);
    case "number":
      return wholeNumber(schema, random) + (schema.multipleOf === undefined && schema.maximum === undefined ? 0.5 : 0);
    case "array":
      return list(schema, random);
    case "object":
      return object(schema, random);
    default:
      return { any: random.below(100) };
  }
}

function text({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format }: Schema, random: Random) {
  if (format !== undefined && FORMATS[format] !== undefined) return FORMATS[format];
  const random36 = random.below(36 ** 5).toString(36);
  const candidates = [...TEXTS, `t${random36}`, random36].filter(
    (one) => pattern === undefined || matches(pattern, one),
  );
  const chosen = candidates.length === 0 ? random36 : random.pick(candidates);
  return chosen.padEnd(minLength, "x").slice(0, Math.min(maxLength, 1_000));
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern).test(text);
  } catch {
    // RE2 knows it, and JavaScript does not: the validator decides.
    return true;
  }
}

function wholeNumber(schema: Schema, random: Random): number {
  const { multipleOf = 1, exclusiveMinimum = false, exclusiveMaximum = false } = schema;
  const least = Math.ceil((schema.minimum ?? Math.min(0, (schema.maximum ?? 100) - 100)) / multipleOf);
  const first = exclusiveMinimum && least * multipleOf === schema.minimum ? least + 1 : least;
  const most = Math.floor((schema.maximum ?? first * multipleOf + 1_000) / multipleOf);
  const last = exclusiveMaximum && most * multipleOf === schema.maximum ? most - 1 : most;
  return (first + random.below(Math.max(1, Math.min(last - first + 1, 2 ** 31)))) * multipleOf;
}

function list(schema: Schema, random: Random): unknown[] {
  const { minItems = 0, maxItems = minItems + 3, items = {} } = schema;
  const length = minItems + random.below(Math.min(maxItems - minItems, 3) + 1);
  const all = Array.from({ length }, () => generatedValue(items, random));
  const type = schema["x-kubernetes-list-type"];
  if (type !== "set" && type !== "map") return all;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const keyOf = (item: unknown) =>
    JSON.stringify(type === "set" ? item : keys.map((key) => (item as Record<string, unknown>)[key]));
  return [...new Map(all.map((item) => [keyOf(item), item])).values()];
}

function object(schema: Schema, random: Random): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties: values } = schema;
  const fields = Object.entries(properties)
    .filter(([name]) => required.includes(name) || random.below(3) > 0)
    .map(([name, field]) => [name, generatedValue(field, random)] as const);
  if (typeof values !== "object") return Object.fromEntries(fields);
  const { minProperties = 0, maxProperties = minProperties + 2 } = schema;
  const count = minProperties + random.below(Math.min(maxProperties - minProperties, 2) + 1);
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`key-${i}`, generatedValue(values, random)] as const),
  );
}
