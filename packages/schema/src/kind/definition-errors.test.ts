import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { cel, listMap, listSet } from "./annotations.ts";
import { defineKind } from "./define-kind.ts";
import type { VersionDefinition } from "./definition.ts";
import { DefinitionError } from "./definition-error.ts";
import { immutable } from "./immutable.ts";

function define(version: Omit<VersionDefinition, "spec">, field: z.ZodType = z.string().optional()): unknown {
  return defineKind({
    group: "a.example.com",
    kind: "Thing",
    versions: { v1: { spec: z.object({ field }), ...version } },
  });
}

const Tree: z.ZodType = z.object({
  get children() {
    return z.array(Tree).optional();
  },
});

/** Fields that a CRD cannot have, and the error messages. */
const FIELDS: [what: string, field: z.ZodType, message: RegExp][] = [
  ["refine", z.string().refine((text) => text !== ""), /spec\.field: a CRD cannot run code/],
  ["superRefine", z.object({}).superRefine(() => {}), /spec\.field: a CRD cannot run code/],
  ["transform", z.string().transform((text) => text.length), /spec\.field: a CRD cannot transform/],
  ["pipe", z.string().pipe(z.string()), /spec\.field: a CRD cannot transform/],
  ["preprocess", z.preprocess((x) => x, z.string()), /spec\.field: a CRD cannot transform/],
  ["trim", z.string().trim(), /spec\.field: a CRD cannot change a value/],
  ["toLowerCase", z.string().toLowerCase(), /spec\.field: a CRD cannot change a value/],
  ["coerce", z.coerce.number(), /spec\.field: z\.coerce changes the value/],
  ["catch", z.string().catch("x"), /spec\.field: a CRD cannot replace an invalid value/],
  ["custom", z.custom<string>(() => true), /spec\.field: a CRD cannot run code/],
  ["look-ahead", z.string().regex(/^(?=a)b/), /spec\.field: the API server's regular expressions \(RE2\)/],
  ["look-behind", z.string().regex(/(?<!a)b/), /spec\.field: .*RE2/],
  ["back-reference", z.string().regex(/(a)\1/), /spec\.field: .*RE2/],
  ["emoji", z.emoji(), /spec\.field: .*RE2/],
  ["ISO durations", z.iso.duration(), /spec\.field: durations in Kubernetes are written 1h30m/],
  ["jwt", z.jwt(), /spec\.field: jwt has no pattern/],
  ["two formats", z.string().check(z.uuid()).check(z.email()), /spec\.field: both uuid and email/],
  ["bigint", z.bigint(), /spec\.field: JSON has no bigint/],
  ["date", z.date(), /spec\.field: JSON has no Date/],
  ["map", z.map(z.string(), z.string()), /spec\.field: JSON has no Map/],
  ["set", z.set(z.string()), /spec\.field: JSON has no Set/],
  ["tuple", z.tuple([z.string(), z.int()]), /spec\.field: a list has one item type/],
  ["undefined", z.undefined(), /spec\.field: a field cannot be undefined/],
  ["null", z.null(), /spec\.field: a field cannot be only null/],
  ["never", z.never(), /spec\.field: nothing can be stored/],
  ["symbol", z.symbol(), /spec\.field: z\.symbol has no equal/],
  ["nan", z.nan(), /spec\.field: z\.nan has no equal/],
  ["promise", z.promise(z.string()), /spec\.field: z\.promise has no equal/],
  ["strict objects", z.strictObject({}), /spec\.field: a CRD cannot reject unknown fields/],
  [
    "catch-alls",
    z.object({ a: z.string() }).catchall(z.int()),
    /spec\.field: a CRD cannot have both named fields and a catch-all/,
  ],
  [
    "record keys that are numbers",
    z.record(z.number(), z.string()),
    /spec\.field: the keys of a record must be strings/,
  ],
  [
    "record keys with a pattern",
    z.record(z.string().regex(/a/), z.string()),
    /spec\.field: a CRD cannot constrain keys/,
  ],
  [
    "unions of unlike types",
    z.union([z.string(), z.boolean()]),
    /spec\.field: a field has one type in a CRD, not boolean or string/,
  ],
  ["unions of two strings", z.union([z.string().min(2), z.email()]), /spec\.field: a union of two kinds of string/],
  [
    "unions that clash",
    z.union([z.object({ a: z.string() }), z.object({ a: z.int() })]),
    /spec\.field\.a: the alternatives declare it differently/,
  ],
  [
    "unions with an open object",
    z.union([z.object({ a: z.string() }), z.looseObject({})]),
    /spec\.field: every alternative must be an object with named fields/,
  ],
  [
    "enumerations of unlike values",
    z.literal(["a", 1]),
    /spec\.field: the values of an enumeration must be of one JSON type/,
  ],
  ["intersections of scalars", z.intersection(z.string(), z.string()), /spec\.field: only objects/],
  [
    "intersections that overlap",
    z.intersection(z.object({ a: z.string() }), z.object({ a: z.string() })),
    /spec\.field\.a: both sides/,
  ],
  ["recursion", Tree, /spec\.field\.children\[\]: the type contains itself/],
  ["recursion by lazy", z.lazy((): z.ZodType => Tree), /the type contains itself/],
  ["default null", z.string().nullable().default(null), /spec\.field: a default of null is none/],
  [
    "a default that changes",
    z.array(z.number()).default(() => [performance.now()]),
    /spec\.field: the default is computed on each use/,
  ],
  [
    "a default that is invalid",
    z.object({ a: z.int().max(5) }).default({ a: 9 }),
    /spec\.field: default\.a 9 should be less than or equal to 5;/,
  ],
  [
    "a default outside of the enumeration",
    z.enum(["small", "large"]).default("medium" as never),
    /spec\.field: default "medium" is not one of the enum values "small", "large";/,
  ],
  [
    "a default inside a list",
    z.array(z.object({ a: z.string().regex(/^a/).default("b") })),
    /spec\.field\[\]\.a: default "b" should match '\^a';/,
  ],
  ["what is no schema", "string" as never, /spec\.field: is not a Zod schema;/],
  ["optional items", z.array(z.string().optional()), /spec\.field\[\]: items of a list/],
  ["optional values", z.record(z.string(), z.string().default("x")), /spec\.field\.\*: items of a list/],
  [
    "deep problems",
    z.array(z.record(z.string(), z.object({ x: z.date() }))),
    /spec\.field\[\]\.\*\.x: JSON has no Date/,
  ],
  [
    "map lists whose key may be absent",
    z.array(z.looseObject({ name: z.string().optional() })).check(listMap("name") as never),
    /must have a default or be a required property/,
  ],
  ["sets of objects", z.array(z.object({ a: z.string() })).check(listSet() as never), /must be atomic as item/],
];

for (const [what, field, message] of FIELDS) {
  test(`${what}: refused at definition time, with the path`, () => {
    assert.throws(
      () => define({}, field),
      (error) =>
        error instanceof DefinitionError &&
        error.path.startsWith("spec.field") &&
        error.message.endsWith('; in defineKind("Thing") at v1') &&
        message.test(error.message),
    );
  });
}

test("what is around the spec is checked too", () => {
  const broken: [VersionDefinition | Record<string, unknown>, RegExp][] = [
    [{ status: z.string() }, /status: must be an object/],
    [{ columns: { X: ".spec.nope" } }, /columns\.X: \.spec\.nope does not refer to a valid field/],
    [{ columns: { X: "spec.field" } }, /columns\.X: spec\.field must start with a dot/],
    [
      { scale: { replicas: ".spec.field", statusReplicas: ".status.x" } },
      /scale\.replicas: \.spec\.field must be of type integer, not string/,
    ],
    [{ scale: { replicas: ".status.x", statusReplicas: ".status.x" } }, /scale\.replicas: must start with \.spec\./],
    [{ selectableFields: [".metadata.labels"] }, /selectableFields/],
    [{ selectableFields: [".spec.field", ".spec.field"] }, /\.spec\.field is there twice/],
    [{ selectableFields: [".spec.nope"] }, /\.spec\.nope/],
  ];
  for (const [version, message] of broken) assert.throws(() => define(version), message);
});

test("rules are compiled and their cost is estimated at definition time", () => {
  const rules: [z.ZodType, RegExp][] = [
    [
      z.int().check(cel("self.x > 1")),
      /spec\.field\.x-kubernetes-validations\[0\]\.rule: the API server would reject this: .*compilation failed/,
    ],
    [z.int().check(cel("self + 1")), /must evaluate to a bool/],
    [z.array(z.string()).check(cel("self.all(x, self.all(y, x == y))")), /estimated rule cost exceeds budget/],
    [
      z.array(z.string().max(5).check(cel("self == oldSelf"))).max(5),
      /oldSelf cannot be used on the uncorrelatable portion/,
    ],
    [z.int().check(cel("self > 1")).default(1), /spec\.field: default 1: failed rule: self > 1/],
  ];
  for (const [field, message] of rules) assert.throws(() => define({}, field), message);
});

test("names are checked", () => {
  const spec = z.object({});
  const broken: [object, RegExp][] = [
    [{ group: "nodot", kind: "A", versions: { v1: { spec } } }, /group: must be a domain/],
    [{ group: "Upper.example.com", kind: "A", versions: { v1: { spec } } }, /group: /],
    [{ group: "a.example.com", kind: "A b", versions: { v1: { spec } } }, /kind: /],
    [{ group: "a.example.com", kind: "A", plural: "a_s", versions: { v1: { spec } } }, /plural: /],
    [{ group: "a.example.com", kind: "A", shortNames: ["x y"], versions: { v1: { spec } } }, /shortNames: /],
    [{ group: "a.example.com", kind: "A", versions: {} }, /at least one version/],
    [{ group: "a.example.com", kind: "A", versions: { V1: { spec }, "1": { spec } } }, /versions\.1: /],
    [
      { group: "a.example.com", kind: "A", versions: { v1: { spec }, v2: { spec } } },
      /which of the versions v1, v2 is `stored`/,
    ],
    [{ group: "a.example.com", kind: "A", stored: "v3", versions: { v1: { spec } } }, /there is no version v3/],
  ];
  for (const [definition, message] of broken) {
    assert.throws(() => defineKind(definition as Parameters<typeof defineKind>[0]), message);
  }
});

test("a rule on a field, a rule on the spec and a rule on the object end up where they belong", () => {
  const kind = defineKind({
    group: "a.example.com",
    kind: "A",
    versions: {
      v1: {
        spec: z.object({ x: z.int().check(cel("self > 1")).optional() }).check(cel("true", "on the spec")),
        rules: [cel("self.x < 9 || true", { message: "m", reason: "FieldValueForbidden" })],
        objectRules: [cel("has(self.spec)")],
      },
    },
  });
  const spec = kind.schema.properties?.["spec"];
  assert.deepEqual(spec?.properties?.["x"]?.["x-kubernetes-validations"], [{ rule: "self > 1" }]);
  assert.deepEqual(
    spec?.["x-kubernetes-validations"]?.map(({ rule }) => rule),
    ["true", "self.x < 9 || true"],
  );
  assert.deepEqual(kind.schema["x-kubernetes-validations"], [{ rule: "has(self.spec)" }]);
});

test("an immutable field that may be absent makes its object watch over it", () => {
  const field = (type: z.ZodType) =>
    defineKind({
      group: "a.example.com",
      kind: "A",
      versions: { v1: { spec: z.object({ "my-field": type }) } },
    }).schema.properties?.["spec"]?.["x-kubernetes-validations"]?.map(({ rule }) => rule);
  assert.deepEqual(field(z.string().max(5).check(immutable())), undefined);
  assert.deepEqual(field(z.string().max(5).check(immutable()).default("x")), undefined);
  assert.deepEqual(field(z.string().max(5).check(immutable()).optional()), [
    "has(self.my__dash__field) == has(oldSelf.my__dash__field)",
  ]);
  assert.deepEqual(
    field(
      z
        .string()
        .max(5)
        .check(immutable({ settable: true }))
        .optional(),
    ),
    ["!has(oldSelf.my__dash__field) || has(self.my__dash__field)"],
  );
});
