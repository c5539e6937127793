import assert from "node:assert/strict";
import { Database, DatabaseBackup, DatabaseUpgrade } from "@konverge/database-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { PersistentVolumeClaim, Pod } from "konverge/kinds";
import { begun, change, isReady, NAME, pod, primary } from "./replica-stage.ts";

const UPGRADE = `${NAME}-to-18`;

const phaseIs = (stage: TestEnvironment, phase: string) =>
  stage.until(
    `the upgrade is ${phase}`,
    async () => (await stage.find(DatabaseUpgrade, UPGRADE))?.status?.phase === phase,
    600_000,
  );

const versionIs = (stage: TestEnvironment, expected: string) =>
  stage.until(
    `the version is ${expected}`,
    async () => (await stage.condition(Database, NAME, "VersionAsRequested")) === expected,
  );

async function images(stage: TestEnvironment): Promise<string[]> {
  const pods = await stage.list(Pod, "app=database");
  return [...new Set(pods.map(({ spec }) => spec!.containers[0]!.image!))];
}

async function volumes(stage: TestEnvironment): Promise<Map<string, string>> {
  const claims = await stage.list(PersistentVolumeClaim);
  return new Map(claims.map(({ metadata }) => [metadata.name, metadata.uid!]));
}

/** Another major version: the primary's data are upgraded, standbys copy them, and a backup follows. */
export const upgradesInPlace: Scenario = async (stage) => {
  const servers = await begun(stage, { backup: {} });
  const parts: string[] = [];
  servers.task = (_, container) => {
    parts.push(container);
    return 0;
  };
  await change(stage, { switchoverTo: pod(1) });
  await stage.until("another leads", async () => (await primary(stage)) === pod(1));
  await isReady(stage);
  const before = await volumes(stage);
  await change(stage, { version: "18.1" });
  await phaseIs(stage, "Completed");
  await isReady(stage);
  await versionIs(stage, "True AsRequested");
  assert.deepEqual(parts.slice(0, 5), ["programs", "check", "programs", "restore", "finish"]);
  assert.deepEqual(await images(stage), ["postgres:18.1"]);
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual([status!.version, status!.image, status!.currentPrimary], ["18.1", "postgres:18.1", pod(1)]);
  const after = await volumes(stage);
  assert.equal(after.get(`data-${pod(1)}`), before.get(`data-${pod(1)}`));
  for (const index of [0, 2]) assert.notEqual(after.get(`data-${pod(index)}`), before.get(`data-${pod(index)}`));
  assert.ok(await stage.find(DatabaseBackup, UPGRADE), "a backup of the new version follows");
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);

  // Minor versions roll out as ever, older major ones do not.
  await change(stage, { version: "18.2" });
  const hasRolledOut = async () =>
    (await images(stage)).join() === "postgres:18.2" && (await stage.list(Pod, "app=database")).length === 3;
  await stage.until("the minor version runs", hasRolledOut, 600_000);
  await isReady(stage);
  await change(stage, { version: "16.4" });
  await versionIs(stage, "False MajorUpgradeRefused");
  assert.deepEqual(await images(stage), ["postgres:18.2"]);
};

/** The least of it, for a test that plays it very often. */
export const upgradesOnce: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 1 });
  await change(stage, { version: "18.1" });
  await phaseIs(stage, "Completed");
  await isReady(stage);
  await versionIs(stage, "True AsRequested");
  assert.deepEqual(await images(stage), ["postgres:18.1"]);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
};

/** A rehearsal that fails stops no server; an upgrade that fails is undone; deleting it tries again. */
export const returnsFromUpgrade: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2, synchronous: 1 });
  let failing = "check";
  const parts: string[] = [];
  servers.task = (_, container) => {
    parts.push(container);
    return container === failing ? 1 : 0;
  };
  const uids = async () => (await stage.list(Pod, "app=database")).map(({ metadata }) => metadata.uid).sort();
  const pods = await uids();
  await change(stage, { version: "18.1" });
  await phaseIs(stage, "Failed");
  await versionIs(stage, "False MajorUpgradeFailed");
  await isReady(stage);
  assert.deepEqual(await uids(), pods, "no server was stopped");

  failing = "restore";
  await stage.client.delete(DatabaseUpgrade, `${stage.namespace}/${UPGRADE}`);
  await stage.until("it is undone", () => parts.includes("undo"));
  await phaseIs(stage, "Failed");
  await isReady(stage);
  assert.deepEqual(await images(stage), ["postgres:16.4"]);
  assert.equal((await stage.get(Database, NAME)).status!.version, "16.4");
  await stage.until("writes go on", () => servers.roleOf(pod(0)) === "primary");

  // It is no longer requested, and nothing remains of it.
  await change(stage, { version: "16.4" });
  await versionIs(stage, "True AsRequested");

  failing = "";
  await stage.client.delete(DatabaseUpgrade, `${stage.namespace}/${UPGRADE}`);
  await change(stage, { version: "18.1" });
  await phaseIs(stage, "Completed");
  await isReady(stage);
  assert.deepEqual(await images(stage), ["postgres:18.1"]);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
};

/** Servers that do not become ready with the new version go back to the old one. */
export const givesUpStarting: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 1 });
  const annotations = { "sim.konverge.dev/ready": "false" };
  await change(stage, { version: "18.1", template: { metadata: { annotations } } });
  await phaseIs(stage, "Starting");
  await stage.advance(16 * 60_000);
  await change(stage, { template: null });
  await phaseIs(stage, "Failed");
  const { error } = (await stage.get(DatabaseUpgrade, UPGRADE)).status!;
  assert.match(error!, /did not become ready with the new version within 15 minutes/);
  await isReady(stage);
  assert.deepEqual(await images(stage), ["postgres:16.4"]);
  servers.nothingLost(pod(0));
};
