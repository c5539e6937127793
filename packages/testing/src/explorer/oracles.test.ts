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

/** What "ownership" reports if a volume of a deleted owner gets the next of that name as its owner. */
function adopted(isReleased: boolean): readonly string[] {
  const owner = (uid: string) => ({ apiVersion: "example.com/v1", kind: "Store", name: "a", uid });
  const store = (uid: string, type: string) => ({
    type,
    resource: "stores",
    name: "a",
    object: { apiVersion: "example.com/v1", kind: "Store", metadata: { name: "a", namespace: "test", uid } },
  });
  const claim = (...owners: string[]) => ({
    type: "updated",
    resource: "persistentvolumeclaims",
    name: "data",
    object: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data", namespace: "test", uid: "3", ownerReferences: owners.map(owner) },
    },
  });
  const released = isReleased ? [claim()] : [];
  const changes = [
    store("1", "created"),
    claim("1"),
    ...released,
    store("1", "deleted"),
    store("2", "created"),
    claim("2"),
  ];
  const run = { changes, objects: [], groups: ["example.com"] } as unknown as ExploredRun;
  return oracles()
    .find(({ name }) => name === "ownership")!
    .check(run, run);
}

test("what has a deleted owner may not be adopted by the next of that name, unless it was released before", () => {
  assert.match(adopted(false).join(), /of a deleted Store a was adopted by the next of that name/);
  assert.deepEqual(adopted(true), []);
});
