import assert from "node:assert/strict";
import { Database, FENCE } from "@konverge/database-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { PersistentVolumeClaim, Pod } from "konverge/kinds";
import { begun, change, isReady, NAME, pod, primary } from "./replica-stage.ts";

async function fence(stage: TestEnvironment, servers: string | null): Promise<void> {
  const merge = { metadata: { annotations: { [FENCE]: servers } } };
  await stage.client.patch(Database, `${stage.namespace}/${NAME}`, { merge });
}

const readyIs = (stage: TestEnvironment, expected: string) =>
  stage.until(`Ready is ${expected}`, async () => (await stage.condition(Database, NAME, "Ready")) === expected);

/** A fenced server stops in its pod; a fenced primary is not replaced, however long that takes. */
export const fencesByAnnotation: Scenario = async (stage) => {
  const servers = await begun(stage, { synchronous: 1 });
  const uids = async () => (await stage.list(Pod)).map(({ metadata }) => metadata.uid).sort();
  const pods = await uids();
  await fence(stage, pod(2));
  await stage.until("the standby has stopped", () => servers.roleOf(pod(2)) === "halted");
  await readyIs(stage, "True PrimaryRuns");
  const { status } = await stage.get(Database, NAME);
  assert.match(status!.conditions!.find(({ type }) => type === "Ready")!.message!, /fenced: postgres-orders-2/);
  await fence(stage, null);
  await isReady(stage);

  await fence(stage, "*");
  await readyIs(stage, "False Fenced");
  await stage.until("all have stopped", () => [0, 1, 2].every((index) => servers.roleOf(pod(index)) === "halted"));
  const written = servers.acknowledged.length;
  // Another image is not rolled out meanwhile.
  await change(stage, { resources: { requests: { memory: "300Mi" } } });
  await stage.advance(600_000);
  assert.deepEqual([servers.acknowledged.length, (await stage.get(Database, NAME)).status!.term], [written, 1]);
  assert.deepEqual(await uids(), pods, "the pods are the same");
  await change(stage, { resources: null });
  await fence(stage, pod(0));
  await stage.until("standbys run again", () => servers.roleOf(pod(1)) === "standby");
  await stage.advance(300_000);
  assert.equal(servers.roleOf(pod(0)), "halted", "no standby replaces it");
  await fence(stage, null);
  await isReady(stage);
  assert.deepEqual([await primary(stage), (await stage.get(Database, NAME)).status!.term], [pod(0), 1]);
  assert.deepEqual(await uids(), pods);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
};

/** The least of it, for a test that plays it very often. */
export const fencedOnce: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2, synchronous: 1 });
  await fence(stage, pod(0));
  await readyIs(stage, "False Fenced");
  await fence(stage, null);
  await isReady(stage);
  assert.equal(await primary(stage), pod(0));
  assert.deepEqual(servers.wrongs, []);
};

/** A hibernated Database has no servers, and all volumes; the same server leads on in the same term, with the same rows. */
export const hibernatesWithStandbys: Scenario = async (stage) => {
  const servers = await begun(stage, { synchronous: 1 });
  await change(stage, { switchoverTo: pod(1) });
  await stage.until("another leads", async () => (await primary(stage)) === pod(1));
  await isReady(stage);
  const claims = async () => (await stage.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.uid).sort();
  const [volumes, before] = [await claims(), (await stage.get(Database, NAME)).status!];
  await change(stage, { hibernated: true });
  await readyIs(stage, "False Hibernated");
  await stage.until("no pod is left", async () => (await stage.list(Pod)).length === 0);
  const written = servers.acknowledged.length;
  await stage.advance(600_000);
  assert.equal(servers.acknowledged.length, written);
  await change(stage, { hibernated: false });
  await isReady(stage);
  const after = (await stage.get(Database, NAME)).status!;
  assert.deepEqual([after.currentPrimary, after.term], [pod(1), before.term]);
  assert.deepEqual(await claims(), volumes);
  await stage.until("writes go on", () => servers.acknowledged.length > written);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};
