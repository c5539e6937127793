import assert from "node:assert/strict";
import { Database, FENCE_SECONDS } from "@konverge/database-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { Node, Pod } from "konverge/kinds";
import type { PretendServers } from "./pretend-servers.ts";
import {
  begun,
  begunWithOperator,
  change,
  hasEvent,
  isLabelled,
  isReady,
  labelled,
  leads,
  loseNode,
  NAME,
  pod,
  primary,
  silence,
} from "./replica-stage.ts";

/** Rows that were acknowledged and that the server which leads does not have. */
function lostRows(servers: PretendServers, leader: string): string[] {
  const rows = new Set(servers.rowsOf(leader));
  return servers.acknowledged.filter((row) => !rows.has(row));
}

const standsAlone = (stage: TestEnvironment) =>
  stage.until("another leads", async () => ![undefined, pod(0)].includes(await primary(stage)));

/**
 * The node of the primary is lost, without synchronous standbys. The primary fences itself before another is promoted; only
 * commits that it has acknowledged in between are lost.
 */
export const fencesItself: Scenario = async (stage) => {
  const servers = await begun(stage);
  const before = servers.acknowledged.length;
  const node = await loseNode(stage, servers, 0);
  await standsAlone(stage);
  const next = (await primary(stage))!;
  await stage.until("it takes writes", () => servers.roleOf(next) === "primary");
  assert.equal(servers.roleOf(pod(0)), "fenced");
  await isLabelled(stage, Number(next.at(-1)));
  assert.ok(await hasEvent(stage, "FailedOver"));
  const rows = new Set(servers.rowsOf(next));
  assert.deepEqual(
    servers.acknowledged.slice(0, before).filter((row) => !rows.has(row)),
    [],
    "all that was acknowledged before the cut is there",
  );
  for (const row of lostRows(servers, next)) assert.ok(row.startsWith(`${pod(0)} `), row);
  assert.deepEqual(servers.wrongs, []);

  await silence(stage, node, null);
  await isReady(stage);
  assert.equal(await primary(stage), next);
  assert.equal(servers.roleOf(pod(0)), "standby");
  assert.deepEqual(servers.wrongs, []);
};

/** The least of it, for a test that plays it very often. Queries still reach the old primary, whose answers are lost. */
export const fencesItselfOnce: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2, failover: { allowDataLoss: true } });
  await loseNode(stage, servers, 0);
  servers.mute(pod(0));
  await leads(stage, 1);
  await stage.until("it takes writes", () => servers.roleOf(pod(1)) === "primary");
  await isLabelled(stage, 1);
  assert.deepEqual(servers.wrongs, []);
};

/**
 * Without standbys that confirm, no standby is promoted unless data loss is allowed, and not while another server that does not report
 * may receive from the old primary: then that one does not stop.
 */
export const waitsForFence: Scenario = async (stage) => {
  const servers = await begun(stage, { failover: { allowDataLoss: false } });
  const node = await loseNode(stage, servers, 0);
  const other = await loseNode(stage, servers, 2);
  await stage.until(
    "it reports that no standby may be promoted",
    async () => (await stage.condition(Database, NAME, "Ready")) === "False FailoverBlocked",
  );
  await stage.advance(180_000);
  assert.equal(await primary(stage), pod(0));

  await change(stage, { failover: { allowDataLoss: true } });
  await stage.until(
    "it waits until the old primary is deleted",
    async () => (await stage.condition(Database, NAME, "Ready")) === "False FencingPending",
  );
  await stage.advance(180_000);
  assert.equal(await primary(stage), undefined);
  assert.deepEqual(await labelled(stage, "primary"), []);
  assert.equal(servers.roleOf(pod(0)), "primary", "a standby receives from it");
  const { message } = (await stage.get(Database, NAME)).status!.conditions!.find(({ type }) => type === "Ready")!;
  assert.match(message ?? "", /postgres-orders-2 did not report that it no longer receives from it/);
  assert.deepEqual(servers.wrongs, []);

  // The user has made sure of it.
  await stage.client.delete(Node, node);
  await leads(stage, 1);
  await silence(stage, other, null);
  await isReady(stage);
  assert.equal(servers.roleOf(pod(0)), "standby");
  assert.deepEqual(servers.wrongs, []);
};

/** While the operator is away, a primary with a standby leads on; one without any stops, and starts when the operator is back. */
export const outlivesOperator: Scenario = async (stage) => {
  const { servers, operator } = await begunWithOperator(stage, { instances: 2 });
  await operator.stop();
  await stage.advance(10 * FENCE_SECONDS * 1000);
  assert.equal(servers.roleOf(pod(0)), "primary", "its standby is in contact with it");
  const { uid } = (await stage.get(Pod, pod(1))).metadata;
  servers.isolate(pod(1));
  servers.detach(pod(1));
  await stage.advance((FENCE_SECONDS / 2) * 1000);
  assert.equal(servers.roleOf(pod(0)), "primary");
  await stage.advance(FENCE_SECONDS * 1000);
  assert.equal(servers.roleOf(pod(0)), "fenced");
  servers.ended(pod(1), uid!);
  await operator.restart();
  await stage.until("it leads again", () => servers.roleOf(pod(0)) === "primary");
  await isReady(stage);
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual([status?.currentPrimary, status?.term], [pod(0), 1]);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
};

/** A server without standbys keeps running, however long the operator is away. */
export const singleKeepsRunning: Scenario = async (stage) => {
  const { servers, operator } = await begunWithOperator(stage, { instances: 1 });
  await operator.stop();
  await stage.advance(10 * FENCE_SECONDS * 1000);
  assert.equal(servers.roleOf(pod(0)), "primary");
};
