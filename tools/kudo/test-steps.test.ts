import assert from "node:assert/strict";
import { test } from "node:test";
import { difference } from "./test-steps.ts";

test("an object may have more fields than expected, but a list no other items", () => {
  assert.equal(difference({ spec: { replicas: 2 } }, { spec: { replicas: 2, paused: true } }), undefined);
  assert.equal(
    difference({ spec: { ports: [{ port: 80 }] } }, { spec: { ports: [{ port: 80, name: "http" }] } }),
    undefined,
  );
  assert.equal(difference({ spec: { replicas: 2 } }, { spec: { replicas: 3 } }), ".spec.replicas: 3 instead of 2");
  assert.match(String(difference({ ports: [1] }, { ports: [1, 2] })), /^\.ports: \[1,2\]/);
  assert.match(String(difference({ status: { plan: {} } }, {})), /^\.status: undefined/);
});
