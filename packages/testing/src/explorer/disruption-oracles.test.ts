import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import { budgetOracle, foreignDeletionOracle, restartOracle } from "./disruption-oracles.ts";
import type { Fault } from "./fault.ts";
import type { ExploredRun, Oracle } from "./oracle.ts";
import type { Actor, ObjectChange } from "./timeline.ts";

const labels = { app: "db" };

function pod(name: string, status: "True" | "False" = "True"): AnyObject {
  const conditions = [{ type: "Ready", status }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name, uid: name, labels }, status: { conditions } };
}

const budget: AnyObject = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "db", uid: "budget" },
  spec: { minAvailable: 2, selector: { matchLabels: labels } },
};

function change(
  type: ObjectChange["type"],
  resource: string,
  by: Actor,
  object: AnyObject,
  previous?: AnyObject,
): ObjectChange {
  return { revision: 10, at: 0, namespace: "stage", name: object.metadata.name, resource, type, by, object, previous };
}

const created = (resource: string, object: AnyObject, by: Actor = "operator") =>
  change("created", resource, by, object);
const deleted = (object: AnyObject) => change("deleted", "pods", "operator", object, object);

function check(oracle: Oracle, changes: readonly ObjectChange[], more: Partial<ExploredRun> = {}): readonly string[] {
  const run: ExploredRun = {
    seed: 1,
    faults: [],
    timeline: [],
    changes,
    endState: new Map(),
    objects: [],
    idle: undefined,
    failure: undefined,
    unhandled: [],
    denied: [],
    violations: [],
    exits: [],
    prematureReadiness: [],
    groups: ["example.com"],
    ...more,
  };
  return oracle.check(run, run);
}

test("an available pod that a budget needs is not deleted, one that is not available may be", () => {
  const members = [
    created("poddisruptionbudgets.policy", budget),
    created("pods", pod("a")),
    created("pods", pod("b")),
  ];
  assert.equal(check(budgetOracle, [...members, deleted(pod("a"))]).length, 1);
  const down = [...members, created("pods", pod("c", "False")), deleted(pod("c", "False"))];
  assert.deepEqual(check(budgetOracle, down), []);
  assert.deepEqual(check(budgetOracle, [...members, created("pods", pod("c")), deleted(pod("a"))]), []);
});

test("what its user has created is not the operator's to delete, unless the operator has written to it or its owner", () => {
  const map: AnyObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "page", uid: "page" } };
  const gone = change("deleted", "configmaps", "operator", map, map);
  assert.deepEqual(check(foreignDeletionOracle, [created("configmaps", map, "user"), gone]), [
    "the operator deleted configmaps/page, which its user had created",
  ]);
  assert.deepEqual(check(foreignDeletionOracle, [created("configmaps", map), gone]), []);
  const adopted = change("updated", "configmaps", "operator", map, map);
  assert.deepEqual(check(foreignDeletionOracle, [created("configmaps", map, "user"), adopted, gone]), []);
});

test("a restart at the end changes the content of nothing", () => {
  const before: AnyObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { order: "x y" } };
  const after = { ...before, data: { order: "y x" } };
  const crash: Fault = { type: "crash", at: { on: "end", what: "", nth: 1 }, when: "before" };
  const timeline = [{ at: 0, revision: 9, who: "explorer", type: "fault", what: "crash" }] as const;
  const more = { faults: [crash], timeline };
  const message = ["after a restart, the operator changed configmaps/a again"];
  assert.deepEqual(check(restartOracle, [change("updated", "configmaps", "operator", after, before)], more), message);
  assert.deepEqual(check(restartOracle, [change("updated", "configmaps", "operator", before, before)], more), []);
  assert.deepEqual(check(restartOracle, [change("updated", "configmaps", "operator", after, before)]), []);
});
