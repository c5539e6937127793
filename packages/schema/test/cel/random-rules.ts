/** Schemas with rules anywhere, and what objects of them were and become. */
import type { Schema, ValidationRule } from "@konverge/core";
import fc from "fast-check";

/** A schema with rules, and changes to judge by it. */
export interface RandomCase {
  schema: Schema;
  /** What it was and what it becomes, several times. */
  changes: [old: unknown, value: unknown][];
}

type Rules = readonly (string | ValidationRule)[];

function withRules(schema: fc.Arbitrary<Schema>, rules: Rules): fc.Arbitrary<Schema> {
  const some = fc
    .subarray([...rules])
    .map((chosen) => chosen.map((rule) => (typeof rule === "string" ? { rule } : rule)));
  return fc.tuple(schema, some).map(([plain, chosen]) => ({ ...plain, "x-kubernetes-validations": chosen }));
}

const SAME = "self == oldSelf";

const scalars = fc.oneof(
  withRules(fc.record({ type: fc.constant("integer"), nullable: fc.boolean() }), [
    "self < 3",
    "self >= oldSelf",
    { rule: "oldSelf.hasValue() ? self == oldSelf.value() : true", optionalOldSelf: true },
    { rule: "self != 1", reason: "FieldValueForbidden", message: "not one" },
  ]),
  withRules(fc.constant({ type: "string", maxLength: 5 }), [
    "self.size() < 2",
    SAME,
    { rule: "self != 'b'", messageExpression: "'no ' + self" },
  ]),
  withRules(fc.constant({ "x-kubernetes-int-or-string": true }), ["self == 1 || self == 'a'", SAME]),
);

function schemas(depth: number): fc.Arbitrary<Schema> {
  if (depth === 0) return scalars;
  const inner = schemas(depth - 1);
  const object = fc
    .record({ a: inner, b: inner, "c-d": scalars })
    .map((properties): Schema => ({ type: "object", properties }));
  const keyed = inner.map(
    (v): Schema => ({
      type: "object",
      required: ["k"],
      properties: { k: { type: "string", maxLength: 3 }, v },
    }),
  );
  return fc.oneof(
    scalars,
    withRules(object, [
      "has(self.a)",
      SAME,
      "has(oldSelf.b) == has(self.b)",
      { rule: "!has(self.a) || !has(self.b)", fieldPath: ".b" },
      { rule: "has(self.c__dash__d)", fieldPath: "['c-d']", reason: "FieldValueRequired" },
    ]),
    withRules(
      inner.map((items) => ({ type: "array", maxItems: 3, items })),
      ["self.size() < 3", SAME],
    ),
    withRules(
      withRules(keyed, [SAME, "has(self.v)", { rule: "self.k != 'p'", fieldPath: ".k" }]).map((items) => ({
        type: "array",
        maxItems: 3,
        items,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
      })),
      ["self.size() < 3", SAME, "self.all(x, oldSelf.exists(y, y.k == x.k))"],
    ),
    withRules(
      inner.map((additionalProperties) => ({ type: "object", maxProperties: 3, additionalProperties })),
      ["self.size() < 2", "'k' in self", SAME],
    ),
  );
}

/** A schema with rules in which nothing is refused for other reasons, with values that it allows. */
export const randomCases: fc.Arbitrary<RandomCase> = schemas(3).chain((schema) =>
  fc.record({
    schema: fc.constant(schema),
    changes: fc.array(change(schema), { minLength: 4, maxLength: 4 }),
  }),
);

function change(schema: Schema): fc.Arbitrary<[unknown, unknown]> {
  return value(schema).chain((old) => fc.tuple(fc.constant(old), changed(schema, old)));
}

function value(schema: Schema): fc.Arbitrary<unknown> {
  if (schema["x-kubernetes-int-or-string"]) return fc.constantFrom(1, 2, "a", "b");
  const { items, properties, additionalProperties } = schema;
  switch (schema.type) {
    case "integer":
      return schema.nullable ? fc.constantFrom(0, 1, 3, 4, null) : fc.constantFrom(0, 1, 3, 4);
    case "string":
      return fc.constantFrom("a", "b", "cc");
    case "array": {
      if (schema["x-kubernetes-list-type"] !== "map") return fc.array(value(items!), { maxLength: 3 });
      const item = (k: string) => value(items!).map((object) => ({ ...(object as object), k }));
      return fc.shuffledSubarray(["p", "q", "r"]).chain((keys) => fc.tuple(...keys.map(item)));
    }
    default:
      if (typeof additionalProperties === "object")
        return fc.dictionary(fc.constantFrom("k", "l", "m.n"), value(additionalProperties), { noNullPrototype: true });
      return fc.record(
        Object.fromEntries(Object.entries(properties ?? {}).map(([name, property]) => [name, value(property)])),
        { requiredKeys: [], noNullPrototype: true },
      );
  }
}

/** The same, something else, or the same with parts of it changed. */
function changed(schema: Schema, old: unknown): fc.Arbitrary<unknown> {
  const isMapList = schema["x-kubernetes-list-type"] === "map";
  const parts = Array.isArray(old)
    ? fc
        .tuple(
          ...old.map((item: unknown) => changed(schema.items!, item).map((next) => keepKey(item, next, isMapList))),
        )
        .chain((next) => fc.shuffledSubarray(next))
    : typeof old === "object" && old !== null
      ? changedFields(schema, old as Record<string, unknown>)
      : value(schema);
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(old) },
    { weight: 1, arbitrary: value(schema) },
    { weight: 4, arbitrary: parts },
  );
}

function keepKey(old: unknown, next: unknown, isMapList: boolean): unknown {
  return isMapList ? { ...(next as object), k: (old as { k: string }).k } : next;
}

function changedFields(schema: Schema, old: Record<string, unknown>): fc.Arbitrary<unknown> {
  const { additionalProperties } = schema;
  const schemaOf = (name: string) =>
    schema.properties?.[name] ?? (typeof additionalProperties === "object" ? additionalProperties : {});
  return fc.record(
    Object.fromEntries(Object.entries(old).map(([name, part]) => [name, changed(schemaOf(name), part)])),
    { requiredKeys: [], noNullPrototype: true },
  );
}
