import assert from "node:assert/strict";
import { test } from "node:test";
import { objectDiff } from "./object-diff.ts";

test("items of lists are compared by what names them", () => {
  const conditions = (ready: string) => ({
    status: {
      conditions: [
        { type: "Ready", status: ready },
        { type: "Progressing", status: "True" },
      ],
    },
  });
  assert.deepEqual(objectDiff(conditions("False"), conditions("True")), [
    { path: "status.conditions[Ready].status", before: "False", after: "True" },
  ]);
});

test("what every write changes is left out", () => {
  const object = (resourceVersion: string) => ({ metadata: { resourceVersion, generation: Number(resourceVersion) } });
  assert.deepEqual(objectDiff(object("1"), object("2")), []);
});

test("fields that appear and disappear have one value", () => {
  assert.deepEqual(objectDiff({ spec: { a: 1 } }, { spec: { b: { c: true } } }), [
    { path: "spec.a", before: "1" },
    { path: "spec.b", after: '{"c":true}' },
  ]);
});
