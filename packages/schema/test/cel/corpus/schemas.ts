/** Rules in places: what schemas make of them, on creates and updates. */
import type { Schema, ValidationRule } from "@konverge/core";

/** A schema, and values to judge by it. */
export interface SchemaCase {
  name: string;
  /** The schema of the field that the case is about; of the whole object if `isRoot`. */
  schema: Schema;
  isRoot?: boolean;
  created?: readonly unknown[];
  updated?: readonly (readonly [old: unknown, value: unknown])[];
}

const rules = (...all: (string | ValidationRule)[]): Pick<Schema, "x-kubernetes-validations"> => ({
  "x-kubernetes-validations": all.map((rule) => (typeof rule === "string" ? { rule } : rule)),
});
const text = (...all: (string | ValidationRule)[]): Schema => ({ type: "string", maxLength: 20, ...rules(...all) });
const object = (properties: Record<string, Schema>, ...all: (string | ValidationRule)[]): Schema => ({
  type: "object",
  properties,
  ...rules(...all),
});
const list = (items: Schema, more: Partial<Schema> = {}, ...all: (string | ValidationRule)[]): Schema => ({
  type: "array",
  maxItems: 5,
  items,
  ...more,
  ...rules(...all),
});
const mapList = (items: Schema, ...all: (string | ValidationRule)[]): Schema =>
  list(items, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] }, ...all);
const keyed = (properties: Record<string, Schema>, ...all: (string | ValidationRule)[]): Schema => ({
  ...object({ k: { type: "string", maxLength: 5 }, ...properties }, ...all),
  required: ["k"],
});
const whole: Schema = { type: "integer" };

const MESSAGES: SchemaCase[] = [
  ["message", { rule: "self.a < 3", message: "  at most three " }],
  ["messageExpression", { rule: "self.a < 3", messageExpression: "'no ' + self.name" }],
  ["both messages", { rule: "self.a < 3", message: "fixed", messageExpression: "'no ' + self.name" }],
  ["empty messageExpression result", { rule: "self.a < 3", message: "fixed", messageExpression: "' '" }],
  ["message of two lines", { rule: "self.a < 3", message: "fixed", messageExpression: "'x\\ny'" }],
  [
    "failing messageExpression",
    { rule: "self.a < 3", message: "fixed", messageExpression: "string(1 / (self.a - 5))" },
  ],
  ["messageExpression of unknown size", { rule: "self.a < 3", messageExpression: "'a is ' + string(self.a)" }],
  ["messageExpression that is no string", { rule: "self.a < 3", messageExpression: "self.a" }],
  ["messageExpression that does not compile", { rule: "self.a < 3", messageExpression: "self.b" }],
  ["messageExpression with a syntax error", { rule: "self.a < 3", messageExpression: "self.a +" }],
  ["reason invalid", { rule: "self.a < 3", reason: "FieldValueInvalid" }],
  ["reason forbidden", { rule: "self.a < 3", reason: "FieldValueForbidden" }],
  ["reason required", { rule: "self.a < 3", reason: "FieldValueRequired" }],
  ["reason duplicate", { rule: "self.a < 3", reason: "FieldValueDuplicate" }],
  ["fieldPath", { rule: "self.a < 3", fieldPath: ".a" }],
  ["fieldPath in brackets", { rule: "self.a < 3", fieldPath: "['a']", reason: "FieldValueForbidden" }],
  ["error with message", { rule: "self.a / 0 == 1", message: "no way" }],
  ["error without message", { rule: " self.a / 0 == 1 " }],
  ["no boolean", { rule: "self.a" }],
  ["optionalOldSelf without oldSelf", { rule: "self.a < 3", optionalOldSelf: true }],
].map(([name, rule]) => ({
  name: name as string,
  schema: object({ a: whole, name: text() }, rule as ValidationRule),
  created: [
    { a: 1, name: "n" },
    { a: 5, name: "n" },
  ],
}));

const SCALARS: SchemaCase[] = (
  [
    ["string", text("self == 'a'"), ["a", "b"]],
    ["integer", { ...whole, ...rules("self > 3") }, [4, 3]],
    ["int32", { ...whole, format: "int32", ...rules("self > 3") }, [4, 3]],
    ["number", { type: "number", ...rules("self > 3.5") }, [4, 3, 3.25]],
    ["whole number", { type: "number", ...rules("self > 3") }, [4, 3]],
    ["boolean", { type: "boolean", ...rules("self") }, [true, false]],
    ["int or string", { "x-kubernetes-int-or-string": true, ...rules("self == 3 || self == '3'") }, [3, "3", 4, "4"]],
    ["nullable", { ...text("self == null || self == 'a'"), nullable: true }, ["a", "b", null]],
    ["date", { type: "string", format: "date", ...rules("self.getFullYear() == 2020") }, ["2020-01-01", "2021-01-01"]],
    ["date-time", { type: "string", format: "date-time", ...rules("self.getHours() == 3") }, ["2020-01-01T03:00:00Z"]],
    ["duration", { type: "string", format: "duration", ...rules("self > duration('1m')") }, ["2m", "1m"]],
    ["byte", { type: "string", format: "byte", maxLength: 20, ...rules("self == b'a'") }, ["YQ==", "Yg=="]],
    ["uuid", { ...text("self.size() > 40"), format: "uuid" }, []],
    ["email", { ...text("self.endsWith('.org')"), format: "email" }, ["a@b.org", "a@b.com"]],
    ["enum", { type: "string", enum: ["a", "b"], ...rules("self == 'a'") }, ["a", "b"]],
    ["reason duplicate of a string", text({ rule: "self == 'a'", reason: "FieldValueDuplicate" }), ["b"]],
    ["reason required of a string", text({ rule: "self == 'a'", reason: "FieldValueRequired" }), ["b"]],
    ["reason forbidden of a string", text({ rule: "self == 'a'", reason: "FieldValueForbidden" }), ["b"]],
    ["anything", { "x-kubernetes-preserve-unknown-fields": true, ...rules("self == self") }, [{ a: 1 }, 3]],
  ] as const
).map(([name, schema, created]) => ({ name, schema: schema as Schema, created }));

const TRANSITIONS: SchemaCase[] = [
  {
    name: "a field that may only grow",
    schema: object({ a: { ...whole, ...rules({ rule: "self >= oldSelf", message: "may only grow" }) } }),
    created: [{ a: 1 }],
    updated: [
      [{ a: 1 }, { a: 2 }],
      [{ a: 2 }, { a: 1 }],
      [{}, { a: 1 }],
      [{ a: 1 }, {}],
    ],
  },
  {
    name: "oldSelf that may be missing",
    schema: object({
      a: {
        ...whole,
        ...rules({ rule: "oldSelf.hasValue() ? self >= oldSelf.value() : self == 1", optionalOldSelf: true }),
      },
    }),
    created: [{ a: 1 }, { a: 2 }],
    updated: [
      [{ a: 1 }, { a: 2 }],
      [{ a: 1 }, { a: 0 }],
      [{}, { a: 3 }],
    ],
  },
  {
    name: "items of a map list by key",
    schema: mapList(keyed({ v: { ...whole, ...rules("self == oldSelf") } })),
    updated: [
      [
        [
          { k: "a", v: 1 },
          { k: "b", v: 2 },
        ],
        [
          { k: "b", v: 1 },
          { k: "a", v: 1 },
          { k: "c", v: 5 },
        ],
      ],
    ],
  },
  { name: "oldSelf in an atomic list", schema: list({ ...whole, ...rules("self == oldSelf") }) },
  {
    name: "oldSelf in a set",
    schema: list({ ...whole, ...rules("self == oldSelf") }, { "x-kubernetes-list-type": "set" }),
  },
  {
    name: "oldSelf below an atomic list",
    schema: list(object({ a: mapList(keyed({ v: { ...whole, ...rules("self == oldSelf") } })) })),
  },
  {
    name: "oldSelf in a list in a list",
    schema: list(list({ ...whole, ...rules("self == oldSelf") }, {}, "self == oldSelf")),
  },
  {
    name: "oldSelf of the list itself",
    schema: list(whole, {}, "self.size() >= oldSelf.size()"),
    updated: [
      [[1, 2], [1]],
      [[1], [1, 2]],
    ],
  },
  {
    name: "values of a map",
    schema: {
      type: "object",
      maxProperties: 5,
      additionalProperties: { ...whole, ...rules("self == oldSelf") },
    },
    updated: [
      [
        { a: 1, b: 2 },
        { a: 2, b: 2, c: 3 },
      ],
    ],
  },
  {
    name: "what was wrong before and stays as it is",
    schema: object({ a: { ...whole, ...rules("self < 3") }, b: whole }, "self.b != 7"),
    updated: [
      [
        { a: 1, b: 1 },
        { a: 5, b: 1 },
      ],
      [
        { a: 1, b: 1 },
        { a: 1, b: 7 },
      ],
    ],
  },
];

const STRUCTURES: SchemaCase[] = [
  {
    name: "rules of items",
    schema: list(text("self.startsWith('a')")),
    created: [["a", "ab"], ["b", "a", "c"], []],
  },
  {
    name: "rules of items of items",
    schema: list(list({ ...whole, ...rules("self > 0") }, {}, "self.size() < 3")),
    created: [[[1], [0, 2]], [[1, 2, 3]]],
  },
  {
    name: "rules of map values",
    schema: { type: "object", maxProperties: 5, additionalProperties: text("self.size() > 1") },
    created: [{ a: "ab" }, { a: "a" }, { "a.b/c": "a" }],
  },
  {
    name: "several rules",
    schema: object({ a: whole, b: whole }, "self.a > 1", "self.b > 1", "self.a > self.b", "has(self.c)"),
  },
  {
    name: "several rules that hold or not",
    schema: object({ a: whole, b: whole }, "self.a > 1", "self.b > 1", "self.a > self.b"),
    created: [{ a: 3, b: 2 }, { a: 0, b: 1 }, { a: 1 }, {}],
  },
  {
    name: "names with special characters",
    schema: object(
      { "a.b": { ...whole, ...rules("self > 1") }, "x-y": text("self == 'a'"), $: whole },
      "self.a__dot__b > 2",
    ),
    created: [{ "a.b": 1, "x-y": "b" }, { "a.b": 3 }],
  },
  {
    name: "a field that cannot be spelt",
    schema: object({ a: whole, $b: whole }, "self.$b == 1"),
  },
  {
    name: "embedded resources",
    schema: {
      ...object({ spec: object({ a: whole }) }, "self.metadata.name == 'a' && self.kind == 'Pod'"),
      "x-kubernetes-embedded-resource": true,
    },
    created: [
      { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { a: 1 } },
      { apiVersion: "v1", kind: "Node", metadata: { name: "a" } },
    ],
  },
  {
    name: "labels of embedded resources",
    schema: {
      ...object({ metadata: { type: "object" } }, "self.metadata.labels.size() == 0"),
      "x-kubernetes-embedded-resource": true,
    },
  },
  {
    name: "map lists compare by key",
    schema: object(
      { a: mapList(keyed({ v: whole })), b: mapList(keyed({ v: whole })) },
      "self.a == self.b",
      "(self.a + self.b).size() == 2",
    ),
    created: [
      {
        a: [
          { k: "a", v: 1 },
          { k: "b", v: 1 },
        ],
        b: [
          { k: "b", v: 1 },
          { k: "a", v: 1 },
        ],
      },
      { a: [{ k: "a", v: 1 }], b: [{ k: "a", v: 2 }] },
    ],
  },
  {
    name: "unknown fields kept",
    schema: {
      ...object({ known: whole }, "self.known == 1", "self.other == 1"),
      "x-kubernetes-preserve-unknown-fields": true,
    },
  },
  {
    name: "a rule about an object without fields",
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true, ...rules("self.a == 1") },
  },
  {
    name: "rules inside of rules",
    schema: object({ a: object({ b: { ...whole, ...rules("self > 1") } }, "self.b > 2") }, "self.a.b > 3"),
    created: [{ a: { b: 1 } }, { a: { b: 2 } }, { a: { b: 3 } }, { a: { b: 4 } }],
  },
  {
    name: "defaults in what rules see",
    schema: object({ a: { ...whole, default: 5 } }, "self.a == 5"),
    created: [{}, { a: 4 }],
  },
];

const ROOTS: SchemaCase[] = [
  {
    name: "a rule about the name",
    isRoot: true,
    schema: object(
      { spec: object({ a: whole }) },
      "self.metadata.name.startsWith('a')",
      "self.kind != '' && self.apiVersion != ''",
      "!has(self.spec) || self.metadata.name.size() > self.spec.a",
    ),
    created: [{ spec: { a: 1 } }, { spec: { a: 100 } }],
  },
  { name: "a rule about labels", isRoot: true, schema: object({}, "self.metadata.labels.size() == 0") },
  { name: "a rule about the namespace", isRoot: true, schema: object({}, "self.metadata.namespace == 'a'") },
  {
    name: "a rule about the spec that was",
    isRoot: true,
    schema: object({ spec: object({ a: whole }) }, "!has(oldSelf.spec) || self.spec.a >= oldSelf.spec.a"),
    updated: [
      [{ spec: { a: 1 } }, { spec: { a: 2 } }],
      [{ spec: { a: 2 } }, { spec: { a: 1 } }],
    ],
  },
];

/** Schemas with rules, and values for them. */
export const SCHEMAS: readonly SchemaCase[] = [...MESSAGES, ...SCALARS, ...TRANSITIONS, ...STRUCTURES, ...ROOTS];
