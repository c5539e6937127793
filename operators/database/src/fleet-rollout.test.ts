import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatefulSet } from "konverge/kinds";
import { Database } from "./database.ts";
import { statefulSetFor } from "./database-children.ts";
import { engineOf } from "./engines.ts";
import { FleetRollout, IMPORTANCE, markedServers } from "./fleet-rollout.ts";
import type { Member } from "./leadership.ts";
import type { RolloutStep } from "./rollout.ts";

const database = (name: string, importance?: string, status: object = {}, spec: object = {}): Database =>
  ({
    ...Database.parse({
      apiVersion: "example.com/v1",
      kind: "Database",
      metadata: { name, namespace: "shop", ...(importance && { annotations: { [IMPORTANCE]: importance } }) },
      spec: { version: "16.4", size: "5Gi", engine: "postgres", ...spec },
    } as never),
    status,
  }) as Database;
const member = (ready = true): Member => ({
  name: "a-0",
  pod: { uid: "1", ready, ending: false, dead: false, node: "node" },
  report: undefined,
});
const replace: RolloutStep = { step: "replace", name: "a-0", uid: "1", why: "is replaced" };
const rendered = (one: Database) => statefulSetFor(one, engineOf(one), { replicas: 1, claimed: undefined });

/** The servers after an operator that renders other pods. */
function updated(one: Database): StatefulSet {
  const before = markedServers(one, rendered(one), undefined);
  const { template } = before.spec!;
  const older = { ...template, spec: { ...template.spec!, terminationGracePeriodSeconds: 60 } };
  return markedServers(one, rendered(one), { ...before, spec: { ...before.spec!, template: older } });
}
const stepOf = (fleet: FleetRollout, one: Database, all: readonly Database[], now: number, members = [member()]) =>
  fleet.step(replace, { database: one, servers: updated(one), members, all, now });

test("one Database at a time gets the pods of a new operator, the least important first", () => {
  const fleet = new FleetRollout();
  const [shop, test1, test2] = [
    database("shop", "10", { update: "Waiting" }),
    database("test1", "-1", { update: "Waiting" }),
    database("test2", undefined, { update: "Waiting" }),
  ];
  const all = [shop, test1, test2];
  assert.equal(stepOf(fleet, test1, all, 0).step, "wait", "others may not have been seen yet");
  assert.equal(stepOf(fleet, shop, all, 40_000).step, "wait");
  assert.deepEqual(stepOf(fleet, test1, all, 40_000), replace);
  assert.equal(stepOf(fleet, test2, all, 50_000).step, "wait");
  fleet.finish(shop);
  assert.equal(stepOf(fleet, test2, all, 60_000).step, "wait", "only who has the turn ends it");
  fleet.finish(test1);
  const left = [shop, database("test1", "-1"), test2];
  assert.equal(stepOf(fleet, shop, left, 70_000).step, "wait");
  assert.deepEqual(stepOf(fleet, test2, left, 70_000), replace);
  assert.deepEqual(stepOf(fleet, shop, [shop], 80_000), replace, "a deleted Database holds up no other");
});

test("one that fails holds up the others, also after a restart of the operator", () => {
  const fleet = new FleetRollout();
  const [first, second] = [database("first", undefined, { update: "Updating" }), database("second")];
  const step = stepOf(fleet, second, [first, second], 0);
  assert.match(step.step === "wait" ? step.message : "", /waits for shop\/first/);
  assert.equal(stepOf(fleet, second, [first, second], 10_000_000).step, "wait");
});

test("what a user requests, and a server that does not run, do not wait", () => {
  const fleet = new FleetRollout();
  const other = database("other", undefined, { update: "Updating" });
  const before = database("shop");
  const after = database("shop", undefined, {}, { version: "16.9" });
  const servers = markedServers(after, rendered(after), markedServers(before, rendered(before), undefined));
  const situation = { database: after, members: [member()], all: [other, after], now: 0 };
  assert.deepEqual(fleet.step(replace, { ...situation, servers }), replace);
  // A larger volume is no change of pods: what the operator changed stays its change.
  const larger = database("shop", undefined, {}, { size: "9Gi" });
  const marked = markedServers(larger, rendered(before), updated(before));
  assert.equal(fleet.step(replace, { ...situation, servers: marked }).step, "wait");
  assert.deepEqual(stepOf(fleet, before, [other, before], 0, [member(false)]), replace);
});
