import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "konverge/kinds";
import { drainPlan } from "./drain-plan.ts";
import { SERVING } from "./names.ts";

function pod(name: string, born: number, options: { ready?: boolean; marked?: boolean } = {}): Pod {
  const { ready = true, marked = false } = options;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      creationTimestamp: new Date(born * 1000).toISOString(),
      labels: { [SERVING]: marked ? "false" : "true" },
    },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  } as unknown as Pod;
}
const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);

test("the youngest go first, and those that are not ready before them", () => {
  const pods = [pod("old", 1), pod("young", 3), pod("middle", 2), pod("starting", 4, { ready: false })];
  assert.deepEqual(names(drainPlan(pods, 3).mark), [], "one that works on nothing can simply go");
  assert.deepEqual(names(drainPlan(pods, 2).mark), ["young"]);
  assert.deepEqual(names(drainPlan(pods, 1).mark), ["young", "middle"]);
});

test("who is marked goes on draining, and is not joined by others", () => {
  const pods = [pod("a", 1, { marked: true }), pod("b", 2), pod("c", 3)];
  const { mark, draining, unmark } = drainPlan(pods, 2);
  assert.deepEqual([names(mark), names(draining), names(unmark)], [[], ["a"], []]);
});

test("who is marked stays when more are wanted again", () => {
  const pods = [pod("a", 1, { marked: true }), pod("b", 2, { marked: true }), pod("c", 3)];
  assert.equal(drainPlan(pods, 2).unmark.length, 1);
  assert.deepEqual(names(drainPlan(pods, 3).unmark), ["a", "b"]);
});
