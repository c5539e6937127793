import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schema } from "./schema-node.ts";
import { fieldInSchema, scalePathError, simpleJsonPathError, splitSimplePath, valueAt } from "./simple-json-path.ts";

test("a printer column's path starts with a dot", () => {
  assert.equal(simpleJsonPathError(".spec.name"), undefined);
  assert.equal(simpleJsonPathError(""), "must not be empty");
  assert.equal(simpleJsonPathError("spec.name"), "must be a simple json path starting with .");
});

test("a scale's paths lie where they belong", () => {
  assert.equal(scalePathError("specReplicasPath", ".spec.replicas"), undefined);
  assert.equal(scalePathError("specReplicasPath", ".status.replicas"), "should be a json path under .spec");
  assert.equal(scalePathError("statusReplicasPath", ".spec.replicas"), "should be a json path under .status");
  assert.equal(scalePathError("labelSelectorPath", ".status.selector"), undefined);
  assert.equal(scalePathError("labelSelectorPath", ".x"), "should be a json path under either .spec or .status");
  assert.equal(scalePathError("labelSelectorPath", "x"), "must be a simple json path starting with .");
});

test("a path of names leads to a value, or nowhere", () => {
  const object = { spec: { replicas: 3, list: [1] } };
  assert.equal(valueAt(object, splitSimplePath(".spec.replicas")), 3);
  assert.equal(valueAt(object, splitSimplePath("spec.replicas")), 3);
  assert.equal(valueAt(object, [".status"]), undefined);
  assert.equal(valueAt(object, ["spec", "replicas", "x"]), undefined);
  assert.equal(valueAt(object, ["constructor"]), undefined);
});

const text: Schema = { type: "string" };
const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: { name: text, "a.b": text, "it's": text, limits: { type: "object", additionalProperties: text } },
    },
  },
};

test("a field path is followed through the schema", () => {
  assert.deepEqual(fieldInSchema(".spec.name", schema), { path: "spec.name", names: ["spec", "name"], schema: text });
  assert.deepEqual(fieldInSchema(".spec.limits.cpu", schema).path, "spec.limits[cpu]");
  assert.deepEqual(fieldInSchema(".spec['a.b']", schema).names, ["spec", "a.b"]);
  assert.deepEqual(fieldInSchema(String.raw`['spec']['it\'s']`, schema).path, "spec.it's");
});

for (const [path, message] of [
  ["spec", "expected [ or . but got: spec"],
  [".spec.other", "does not refer to a valid field"],
  [".spec.name.x", "does not refer to a valid field"],
  [".spec.", "unexpected end of JSON path"],
  [".spec[0]", "expected single quoted string but got 0"],
  [".spec['name'x", "expected ] but got x"],
  [".spec['name'", "unexpected end of JSON path"],
  [String.raw`.spec['\q']`, String.raw`invalid string literal: invalid escape char \q`],
] as const) {
  test(`the field path ${path} is refused`, () => {
    assert.throws(() => fieldInSchema(path, schema), { name: "JsonPathError", message });
  });
}

test("selectable fields have no brackets", () => {
  assert.throws(() => fieldInSchema(".spec['name']", schema, { brackets: false }), {
    message: "array notation is not allowed",
  });
});
