import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  findCondition,
  hasCondition,
  removeCondition,
  setCondition,
  stampConditions,
} from "./conditions.ts";
import type { Condition } from "./object.ts";

const early = "2026-01-01T00:00:00Z";
const late = "2026-01-02T00:00:00Z";
const ready: Condition = {
  type: "Ready",
  status: "True",
  reason: "Available",
  message: "",
  lastTransitionTime: early,
  observedGeneration: 1,
};
const other: Condition = { ...ready, type: "Other" };

test("a reconciler states conditions in a word", () => {
  assert.deepEqual(conditionTrue("Available"), { status: "True", reason: "Available", message: "" });
  assert.deepEqual(conditionFalse("Progressing", "1 ready"), {
    status: "False",
    reason: "Progressing",
    message: "1 ready",
  });
  assert.deepEqual(conditionUnknown("Lost"), { status: "Unknown", reason: "Lost", message: "" });
});

test("the transition time is kept while the status is the same", () => {
  const at = { generation: 2, time: late };
  assert.deepEqual(setCondition([ready, other], "Ready", conditionTrue("AllGood", "3 ready"), at), [
    { ...ready, reason: "AllGood", message: "3 ready", observedGeneration: 2 },
    other,
  ]);
  assert.deepEqual(setCondition([ready, other], "Ready", conditionFalse("Progressing"), at), [
    { ...ready, status: "False", reason: "Progressing", lastTransitionTime: late, observedGeneration: 2 },
    other,
  ]);
});

test("a new condition comes last; one that changes nothing gives the same list", () => {
  const at = { generation: 1, time: late };
  const list = [other];
  assert.deepEqual(setCondition(list, "Ready", conditionTrue("Available"), at), [
    other,
    { ...ready, lastTransitionTime: late },
  ]);
  assert.equal(setCondition(list, "Other", conditionTrue("Available"), at), list);
  assert.deepEqual(
    setCondition(undefined, "Ready", conditionTrue("Available"), { generation: undefined, time: early }),
    [{ type: "Ready", status: "True", reason: "Available", message: "", lastTransitionTime: early }],
  );
});

test("conditions are found and removed by type", () => {
  const list = [ready, other];
  assert.equal(findCondition(list, "Other"), other);
  assert.equal(findCondition(undefined, "Other"), undefined);
  assert.deepEqual(removeCondition(list, "Ready"), [other]);
  assert.equal(removeCondition(list, "Missing"), list);
  assert.ok(hasCondition({ status: { conditions: list } }, "Ready"));
  assert.ok(!hasCondition({ status: { conditions: list } }, "Ready", "False"));
  assert.ok(!hasCondition({}, "Ready"));
});

test("a whole statement is stamped in its own order, without what it leaves undefined", () => {
  const stated = { New: conditionFalse("Waiting"), Ready: conditionTrue("Available"), Removed: undefined };
  assert.deepEqual(stampConditions(stated, [ready, other], { generation: 1, time: late }), [
    { type: "New", status: "False", reason: "Waiting", message: "", lastTransitionTime: late, observedGeneration: 1 },
    ready,
  ]);
});
