import type { Schema } from "@konverge/core";

/** A resource's schema before and after it was made stricter. */
export function updateSchema(isStrict: boolean): Schema {
  const field = (schema: Schema, stricter: Schema): Schema => (isStrict ? { ...schema, ...stricter } : schema);
  return {
    type: "object",
    properties: {
      spec: {
        type: "object",
        ...(isStrict && { required: ["must"] }),
        properties: {
          a: field({ type: "string" }, { maxLength: 2 }),
          b: field({ type: "integer" }, { minimum: 10 }),
          must: { type: "string" },
          o: {
            type: "object",
            properties: { x: field({ type: "string" }, { pattern: "^z" }), y: { type: "string" } },
            ...(isStrict && {
              anyOf: [
                { required: ["x", "y"], properties: { x: { enum: ["z"] } } },
                { properties: { y: { enum: ["ok"] } } },
              ],
            }),
          },
          l: { type: "array", items: field({ type: "string" }, { enum: ["ok"] }) },
          m: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: {
              type: "object",
              required: ["name"],
              properties: {
                name: { type: "string" },
                v: field({ type: "integer" }, { maximum: 5 }),
                w: { type: "string" },
              },
            },
          },
          s: { type: "array", "x-kubernetes-list-type": "set", items: field({ type: "string" }, { maxLength: 1 }) },
          ap: { type: "object", additionalProperties: field({ type: "string" }, { maxLength: 1 }) },
          n: field({ type: "string" }, { not: { enum: ["bad"] } }),
        },
      },
    },
  };
}

/** What was stored under the lenient schema. */
export const OLD_SPEC = {
  a: "long",
  b: 1,
  o: { x: "a", y: "no" },
  l: ["bad", "worse"],
  m: [
    { name: "a", v: 9 },
    { name: "b", v: 8, w: "x" },
  ],
  s: ["xx", "y"],
  ap: { k: "long", j: "longer" },
  n: "bad",
};

/** What it is updated to under the strict one. */
export const UPDATE_CASES: object[] = [
  OLD_SPEC,
  { ...OLD_SPEC, a: "longer" },
  { ...OLD_SPEC, a: "ok" },
  { ...OLD_SPEC, b: 2 },
  { ...OLD_SPEC, o: { x: "a", y: "changed" } },
  { ...OLD_SPEC, o: { x: "b", y: "no" } },
  { ...OLD_SPEC, l: ["bad", "worse", "ok"] },
  { ...OLD_SPEC, l: ["worse", "bad"] },
  { ...OLD_SPEC, m: [OLD_SPEC.m[1], OLD_SPEC.m[0]] },
  { ...OLD_SPEC, m: [{ name: "a", v: 9, w: "new" }, OLD_SPEC.m[1]] },
  { ...OLD_SPEC, m: [{ name: "a", v: 10 }] },
  { ...OLD_SPEC, m: [{ name: "c", v: 10 }, ...OLD_SPEC.m] },
  { ...OLD_SPEC, s: ["y", "xx"] },
  { ...OLD_SPEC, s: ["xx"] },
  { ...OLD_SPEC, ap: { k: "long", j: "changed" } },
  { ...OLD_SPEC, ap: { k: "long", j: "longer", i: "l" } },
  { ...OLD_SPEC, n: "bad", must: "x" },
  { ...OLD_SPEC, n: "good" },
  { ...OLD_SPEC, o: { y: "ok" } },
  { ...OLD_SPEC, o: {} },
  {},
  { a: "long" },
];
