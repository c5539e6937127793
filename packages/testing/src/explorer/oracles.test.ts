import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import { endStateOf } from "./end-state.ts";
import type { ExploredRun } from "./oracle.ts";
import { oracles } from "./oracles.ts";

const pod = (phase: string): AnyObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "once-x7k2p", generateName: "once-", namespace: "test", uid: "1" },
  status: { phase },
});
const job = (type: string): AnyObject => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "once", namespace: "test", uid: "2" },
  status: { conditions: [{ type, status: "True" }] },
});

/** What "end state" reports of a run in which `object` was deleted, compared with one in which it stayed. */
function reported(object: AnyObject, by: "operator" | "cluster"): readonly string[] {
  const run = (objects: AnyObject[], changes: object[]) =>
    ({ faults: [], changes, endState: endStateOf(objects) }) as Partial<ExploredRun> as ExploredRun;
  const oracle = oracles().find(({ name }) => name === "end state")!;
  return oracle.check(run([], [{ type: "deleted", by, object }]), run([object], []));
}

test("a pod or a Job that had ended and was deleted by another client may be missing", () => {
  for (const ended of [pod("Succeeded"), pod("Failed"), job("Complete"), job("Failed")]) {
    assert.deepEqual(reported(ended, "cluster"), []);
  }
});

test("one that the operator deleted, or that still ran, may not", () => {
  assert.equal(reported(pod("Succeeded"), "operator").length, 1);
  assert.equal(reported(pod("Running"), "cluster").length, 1);
  assert.equal(reported(job("Suspended"), "cluster").length, 1);
});
