import { type Schema, WholeFloat } from "@konverge/core";

/** Fields of one custom resource, each with its schema and values to try, one at a time. */
export const VALUE_CASES: Record<string, [schema: Schema, values: unknown[]]> = {
  int: [
    { type: "integer" },
    [
      1,
      new WholeFloat(1),
      1.5,
      "x",
      null,
      true,
      [],
      {},
      1e19,
      9007199254740993n,
      9223372036854775808n,
      -0.5,
      5.000000001,
    ],
  ],
  int32: [{ type: "integer", format: "int32", minimum: 2, maximum: 10 }, [1, 11, 2 ** 31, 5, 1.5]],
  int64e: [
    { type: "integer", format: "int64", minimum: 2, maximum: 10, exclusiveMinimum: true, exclusiveMaximum: true },
    [2, 10, 3],
  ],
  num: [
    { type: "number", minimum: 0.5, maximum: 1000000 },
    [0.25, 1000000.5, 1000001, new WholeFloat(1000001), new WholeFloat(2000000), 12345678.5, 1e-7, 0, "a"],
  ],
  numf: [{ type: "number", format: "float" }, [1e39, 1.5, 1e38, 1]],
  numd: [{ type: "number", format: "double" }, [1e39, 1]],
  mult: [{ type: "integer", multipleOf: 3 }, [3, 4, 0, -3, -4]],
  multf: [{ type: "number", multipleOf: 0.5 }, [1.5, 1.2, 3, new WholeFloat(3)]],
  multf2: [{ type: "number", multipleOf: 2.5 }, [5, 2.5, 3, 7.5]],
  intmaxfrac: [{ type: "integer", maximum: 10.5 }, [3, 11, new WholeFloat(11)]],
  str: [
    { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z]+$" },
    ["a", "abcde", "AB", "ab", "ü", "üüüüü", "😀😀", 5, 1.5, true, [], {}],
  ],
  fmtdt: [
    { type: "string", format: "date-time" },
    ["2020-01-01T00:00:00Z", "x", 5, 1.5, true, [], ["a"], {}, "2020-01-01t00:00:00.5+01:00"],
  ],
  fmtu: [{ type: "string", format: "unknown-format" }, ["x", 5, [], true]],
  enums: [{ type: "string", enum: ["a", "b"] }, ["c", "a", 97, 5, null, "", {}]],
  enumi: [{ type: "integer", enum: [1, 2] }, [1, 3, 1.5, "1"]],
  enumn: [{ type: "number", enum: [1, 2.5] }, [1, 1.5, 2.5, 2.2, 2, new WholeFloat(1), new WholeFloat(3)]],
  enumnull: [{ type: "string", nullable: true, enum: ["a"] }, [null, "a"]],
  enumnull2: [{ type: "string", nullable: true, enum: ["a", null] }, [null, "a", "b"]],
  enumnull3: [{ type: "string", nullable: true, allOf: [{ enum: ["a", "b"] }] }, [null, "a", "c"]],
  enumobj: [
    { type: "object", properties: { a: { type: "string" } }, enum: [{ a: "x" }] },
    [{ a: "x" }, { a: "y" }, { a: "<" }],
  ],
  bool: [{ type: "boolean" }, [true, "true", 1, null]],
  arr: [
    { type: "array", minItems: 1, maxItems: 2, items: { type: "integer" } },
    [[], [1, 2, 3], ["a", 1], [null], "x", {}],
  ],
  set: [
    { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    [["a", "a"], ["a", "b", "a", "a"], ["a"]],
  ],
  map: [
    {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", required: ["name"], properties: { name: { type: "string" }, v: { type: "integer" } } },
    },
    [[{ name: "a" }, { name: "a" }], [{}, {}], [{ name: "a" }, null, null], ["x"]],
  ],
  map2: [
    {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name", "p"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, p: { type: "string", default: "TCP" } },
      },
    },
    [
      [{ name: "a" }, { name: "a", p: "TCP" }],
      [{ name: "a" }, { name: "a", p: "UDP" }],
    ],
  ],
  ios: [{ "x-kubernetes-int-or-string": true }, [1, new WholeFloat(1), "a", 1.5, true, null, []]],
  ios2: [
    {
      "x-kubernetes-int-or-string": true,
      anyOf: [{ type: "integer" }, { type: "string" }],
      pattern: "^[0-9]+%$",
      maximum: 10,
    },
    [1, "a", 11, true, "5%", null],
  ],
  obj: [
    {
      type: "object",
      required: ["a", "b"],
      properties: {
        a: { type: "string" },
        b: { type: "integer", nullable: true },
        c: { type: "string", default: "d" },
      },
    },
    [{}, { a: null, b: null }, { a: "x", b: 1, z: 1 }, [], "s"],
  ],
  maps: [
    { type: "object", additionalProperties: { type: "integer", minimum: 1 }, minProperties: 1, maxProperties: 2 },
    [{}, { a: 0 }, { a: 1, b: 1, c: 1 }, { a: null }, { "a.b": 0 }],
  ],
  mapt: [{ type: "object", additionalProperties: true }, [{ a: 1, b: { c: 1 }, d: [{ e: 1 }] }]],
  anyof: [
    {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    [{}, { a: "x" }, { a: "x", b: "x" }],
  ],
  oneof: [
    {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, t: { type: "string" } },
      oneOf: [
        { required: ["a"], properties: { t: { enum: ["A"] } } },
        { required: ["b"], properties: { t: { enum: ["B"] } } },
      ],
    },
    [{}, { t: "A" }, { t: "B", b: "x" }, { t: "A", b: "x" }, { a: "x", b: "x" }],
  ],
  allof: [{ type: "string", allOf: [{ minLength: 2 }, { pattern: "^a" }] }, ["b", "bb", "ab", "a"]],
  nots: [{ type: "string", not: { pattern: "^a" } }, ["a", "b"]],
  pres: [
    {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { k: { type: "object", properties: { x: { type: "string" } } } },
    },
    [{ a: { b: 1 }, k: { x: "1", y: 2 } }],
  ],
  presarr: [
    {
      type: "array",
      items: { type: "object", properties: { x: { type: "object", properties: {} } } },
      "x-kubernetes-preserve-unknown-fields": true,
    },
    [[{ y: 1, x: { z: 1 } }]],
  ],
  any: [{ "x-kubernetes-preserve-unknown-fields": true }, [1, { a: null }, null, [null]]],
  emb: [
    { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    [
      {},
      { apiVersion: "v1", kind: "Pod" },
      {
        apiVersion: "a/b/c",
        kind: "P d",
        metadata: { name: "A/b", labels: { "a b": "x y" }, foo: 1, namespace: "x_" },
      },
      { apiVersion: "v1", kind: "Pod", metadata: { labels: {}, name: "" } },
      { apiVersion: "", kind: "" },
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          ownerReferences: [{ name: "x" }],
          finalizers: ["a b"],
          generateName: "x%",
          annotations: { "A/b/c": "x" },
          generation: -1,
        },
      },
    ],
  ],
  defs: [
    {
      type: "object",
      properties: {
        a: { type: "integer", default: 1 },
        b: { type: "object", default: {}, properties: { c: { type: "string", default: "x" } } },
        n: { type: "string", nullable: true, default: "q" },
      },
    },
    [{}, { a: null }, { b: null }, { n: null }],
  ],
};

/** The resource that has all these fields. */
export const VALUE_SCHEMA: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: Object.fromEntries(Object.entries(VALUE_CASES).map(([name, [schema]]) => [name, schema])),
    },
  },
};
