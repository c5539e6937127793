import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, VirtualClock } from "@konverge/core";
import { UndeclaredFields } from "./undeclared-fields.ts";

const WHAT = "failed to create typed patch object (default/w; example.com/v1, Kind=Widget): ";
const refusal = (message: string) => new ApiError({ code: 500, reason: "InternalError", message: WHAT + message });

test("one field that is refused is left out", () => {
  const fields = new UndeclaredFields(new VirtualClock());
  assert.deepEqual(fields.learn(refusal(".status.observedGeneration: field not declared in schema")), [
    "status.observedGeneration",
  ]);
  assert.deepEqual(fields.leaveOut({ observedGeneration: 1, phase: "Running" }), { phase: "Running" });
});

test("fields of list items are left out of all items, others stay", () => {
  const fields = new UndeclaredFields(new VirtualClock());
  const message = `errors:\n  .status.conditions[type="a: b"].observedGeneration: field not declared in schema\n  .status.count: field not declared in schema`;
  assert.deepEqual(fields.learn(refusal(message)), ["status.conditions[].observedGeneration", "status.count"]);
  const status = {
    count: 1,
    conditions: [
      { type: "A", observedGeneration: 1 },
      { type: "B", observedGeneration: 2 },
    ],
  };
  assert.deepEqual(fields.leaveOut(status), { conditions: [{ type: "A" }, { type: "B" }] });
  assert.equal(status.count, 1);
});

test("known fields are not reported again, and other refusals change nothing", () => {
  const fields = new UndeclaredFields(new VirtualClock());
  fields.learn(refusal(".status.a: field not declared in schema"));
  assert.deepEqual(fields.learn(refusal(".status.a: field not declared in schema")), []);
  assert.deepEqual(fields.learn(refusal(".spec.a: field not declared in schema")), []);
  assert.deepEqual(fields.learn(new Error(" .status.b: field not declared in schema")), []);
});

test("after some minutes it is retried: the definition may have been fixed", async () => {
  const clock = new VirtualClock();
  const fields = new UndeclaredFields(clock);
  fields.learn(refusal(".status.a: field not declared in schema"));
  await clock.advance(6 * 60_000);
  assert.deepEqual(fields.leaveOut({ a: 1 }), { a: 1 });
});
