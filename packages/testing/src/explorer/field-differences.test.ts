import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldDifferences } from "./field-differences.ts";

test("a field that differs is named by its path, with both values", () => {
  assert.equal(
    fieldDifferences({ data: { text: "a" } }, { data: { text: "b" } }),
    'data.text: expected "a", but it is "b"',
  );
});

test("a field that is missing or too much is named, not the one that has moved up in its place", () => {
  const labels = { name: "x", labels: { l: "1" } };
  assert.equal(
    fieldDifferences({ metadata: { annotations: { "example.com/a": "1" }, ...labels } }, { metadata: labels }),
    'metadata.annotations: expected {"example.com/a":"1"}, but it is missing',
  );
  assert.equal(
    fieldDifferences({ metadata: { annotations: {} } }, { metadata: { annotations: { "example.com/a": "1" } } }),
    'metadata.annotations["example.com/a"]: expected nothing, but it is "1"',
  );
});

test("items of lists are named by their type or name where they have one, and compared by it", () => {
  const [ready, stalled] = [
    { type: "Ready", status: "True" },
    { type: "Stalled", status: "False" },
  ];
  assert.equal(
    fieldDifferences({ conditions: [ready, stalled] }, { conditions: [stalled, { ...ready, status: "False" }] }),
    'conditions[Ready].status: expected "True", but it is "False"',
  );
  assert.equal(fieldDifferences({ args: ["a", "b"] }, { args: ["a", "c"] }), 'args[1]: expected "b", but it is "c"');
});

test("of many differences the first are listed, and the others counted", () => {
  const many = (value: number) => Object.fromEntries("abcdef".split("").map((name) => [name, value]));
  assert.equal(
    fieldDifferences(many(1), many(2)),
    "a: expected 1, but it is 2; b: expected 1, but it is 2; c: expected 1, but it is 2; and 3 more",
  );
});

test("texts that are JSON are compared field by field", () => {
  const before = { data: { "config.json": '{"replicas":1,"servers":["a","b"]}' } };
  const after = { data: { "config.json": '{ "replicas": 2, "servers": ["a", "b"] }' } };
  assert.equal(fieldDifferences(before, after), 'data["config.json"] as JSON.replicas: expected 1, but it is 2');
});
