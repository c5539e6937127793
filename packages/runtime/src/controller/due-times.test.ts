import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf, VirtualClock } from "@konverge/core";
import { DueTimes } from "./due-times.ts";

test("an object that was deleted and created again is due at once, although its name was seen before", () => {
  const times = new DueTimes(new VirtualClock());
  const ring = (uid: string) => {
    const alarm = { apiVersion: "example.com/v1", kind: "Alarm", metadata: { name: "a", namespace: "default", uid } };
    const reconcile = times.forReconcile(keyOf(alarm), alarm);
    const isDue = reconcile.isDue("ring", { every: 3_600_000 });
    reconcile.settle();
    return isDue;
  };
  assert.deepEqual([ring("1"), ring("1"), ring("2"), ring("2")], [true, false, true, false]);
});
