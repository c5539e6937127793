/** What the expressions of the corpus are about: a field of every type, three objects that have them. */
import type { Schema } from "@konverge/core";

const text: Schema = { type: "string" };
const whole: Schema = { type: "integer" };

/** Nothing here has a size limit. */
export const UNBOUNDED: Schema = {
  type: "object",
  properties: {
    s: text,
    sm: { type: "string", maxLength: 10 },
    i: whole,
    n: { type: "number" },
    b: { type: "boolean" },
    e: { type: "string", enum: ["aa", "bbbb"] },
    l: { type: "array", items: text },
    li: { type: "array", items: whole, maxItems: 10 },
    ll: { type: "array", items: { type: "array", items: whole } },
    m: { type: "object", additionalProperties: text },
    mi: { type: "object", additionalProperties: whole, maxProperties: 5 },
    o: { type: "object", properties: { x: text, y: whole }, required: ["x"] },
    lo: {
      type: "array",
      maxItems: 20,
      items: {
        type: "object",
        properties: {
          names: { type: "array", maxItems: 7, items: { type: "string", maxLength: 9 } },
          id: { type: "string", maxLength: 3 },
          v: whole,
        },
      },
    },
    ios: { "x-kubernetes-int-or-string": true },
    dt: { type: "string", format: "date-time" },
    d: { type: "string", format: "date" },
    du: { type: "string", format: "duration" },
    by: { type: "string", format: "byte" },
    set: { type: "array", "x-kubernetes-list-type": "set", items: text },
    seti: { type: "array", "x-kubernetes-list-type": "set", items: whole },
    setn: { type: "array", "x-kubernetes-list-type": "set", items: { type: "number" } },
    ml: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", required: ["k"], properties: { k: text, v: whole } },
    },
    nul: { type: "string", nullable: true },
    pu: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { known: text } },
    pun: { "x-kubernetes-preserve-unknown-fields": true },
    emb: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    },
    "a-b": text,
    "a.b": text,
    "a/b": text,
    __x__: text,
    namespace: text,
    for: whole,
  },
};

/** The same with limits wherever there can be one, so that nothing is refused for what it could cost. */
export const BOUNDED: Schema = bounded(UNBOUNDED);

function bounded(schema: Schema): Schema {
  const copy = { ...schema };
  const isBare = copy.format === undefined || copy.format === "byte";
  if (copy.type === "string" && isBare && !copy.enum) copy.maxLength ??= 20;
  if (copy.type === "array") copy.maxItems ??= 5;
  if (copy.items) copy.items = bounded(copy.items);
  if (typeof copy.additionalProperties === "object") {
    copy.maxProperties ??= 5;
    copy.additionalProperties = bounded(copy.additionalProperties);
  }
  if (copy.properties)
    copy.properties = Object.fromEntries(
      Object.entries(copy.properties).map(([name, property]) => [name, bounded(property)]),
    );
  return copy;
}

const full = {
  s: "hello",
  sm: "abc",
  i: 5,
  n: 2.5,
  b: true,
  e: "aa",
  l: ["a", "b", "c"],
  li: [3, 1, 2],
  ll: [[1, 2], [3]],
  m: { k1: "v1", k2: "v2" },
  mi: { a: 1, b: 2 },
  o: { x: "X", y: 1 },
  lo: [
    { names: ["p", "q"], id: "i1", v: 1 },
    { names: ["r"], id: "i2", v: 2 },
  ],
  ios: "50%",
  dt: "2020-02-03T04:05:06.789Z",
  d: "2020-02-03",
  du: "1h30m",
  by: "aGVsbG8=",
  set: ["a", "b"],
  seti: [1, 2],
  setn: [1, 2.5],
  ml: [
    { k: "a", v: 1 },
    { k: "b", v: 2 },
  ],
  nul: null,
  pu: { known: "k", other: 1 },
  pun: { q: 1 },
  emb: { apiVersion: "v1", kind: "Pod", metadata: { name: "p", labels: { a: "b" } }, spec: {} },
  "a-b": "dash",
  "a.b": "dot",
  "a/b": "slash",
  __x__: "und",
  namespace: "ns",
  for: 7,
};
const poor = { s: "", i: 0, ios: 3, l: [], m: { k1: "other" }, nul: "x" };

/** The objects that every expression is evaluated on. */
export const CREATED: readonly object[] = [full, poor, {}];

/** What they were and what they become. */
export const UPDATED: readonly (readonly [old: object, object: object])[] = [
  [full, poor],
  [poor, full],
];
