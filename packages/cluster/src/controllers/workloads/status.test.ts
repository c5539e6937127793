import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sameStored } from "./status.ts";

test("what a server omits makes no difference to a status", () => {
  assert.ok(sameStored({}, { replicas: 0, ready: false, message: "", conditions: [], uncounted: {} }));
  assert.ok(sameStored({ uncounted: { failed: [] } }, undefined));
  assert.ok(sameStored({ conditions: [{ type: "Ready", reason: "" }] }, { conditions: [{ type: "Ready" }] }));
});

test("everything else does", () => {
  assert.ok(!sameStored({ replicas: 1 }, {}));
  assert.ok(!sameStored({}, { replicas: 1 }));
  assert.ok(!sameStored({ conditions: [{}] }, { conditions: [] }));
  assert.ok(!sameStored({ failed: ["a", "b"] }, { failed: ["b", "a"] }));
  assert.ok(!sameStored({ active: [{ name: "a" }] }, { active: { name: "a" } }));
});

test("it does not matter which of the two is asked about first", () => {
  const status = fc.jsonValue({ maxDepth: 3 });
  fc.assert(fc.property(status, status, (a, b) => sameStored(a, b) === sameStored(b, a)));
  fc.assert(fc.property(status, (a) => sameStored(a, a)));
});
