import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type ConditionType, holds, settled, withStatement } from "./job-conditions.ts";
import type { JobCondition } from "./job-fields.ts";

const TYPES: ConditionType[] = ["Created", "Running", "Restarting", "Succeeded", "Suspended", "Failed"];
const state = (conditions: readonly JobCondition[], type: ConditionType, time = "t1") =>
  withStatement(conditions, { type, status: "True", reason: `Job${type}`, message: `${type}.` }, time);
const typesOf = (conditions: readonly JobCondition[]) => conditions.map(({ type, status }) => `${type} ${status}`);

test("the newest statement is the last of the list", () => {
  const running = state(state([], "Created"), "Running");
  assert.deepEqual(typesOf(running), ["Created True", "Running True"]);
  assert.deepEqual(typesOf(state(running, "Restarting")), ["Created True", "Restarting True"]);
  assert.deepEqual(typesOf(state(running, "Succeeded")), ["Created True", "Running False", "Succeeded True"]);
});

test("what is stated again keeps its place and its times", () => {
  const before = state(state([], "Running", "t1"), "Suspended", "t2");
  assert.equal(state(before, "Running", "t3"), before);
});

test("a condition that is set again unchanged keeps its times, even if it was removed in between", () => {
  const before = state([], "Restarting", "t1");
  const again = state(state(before, "Running", "t2"), "Restarting", "t2");
  assert.deepEqual(settled(again, before), before);
});

test("whatever is stated: no type twice, never Running beside Restarting, and Failed is final", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...TYPES), { maxLength: 12 }), (statements) => {
      let conditions: readonly JobCondition[] = [];
      for (const type of statements) {
        const before = conditions;
        conditions = state(conditions, type);
        if (holds(before, "Failed")) assert.equal(conditions, before);
        else assert.ok(conditions === before || conditions.at(-1)?.type === type);
      }
      const types = conditions.map(({ type }) => type);
      assert.equal(new Set(types).size, types.length);
      assert.ok(!(types.includes("Running") && types.includes("Restarting")));
      if (holds(conditions, "Failed") && types.at(-1) === "Failed") assert.ok(!holds(conditions, "Running"));
    }),
  );
});
