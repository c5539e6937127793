import assert from "node:assert/strict";
import { Database } from "@konverge/database-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { PersistentVolumeClaim, Pod } from "konverge/kinds";
import { begun, change, isReady, leads, NAME, pod, replicated } from "./replica-scenarios.ts";

/** The Database is deleted, and its volumes stay. */
async function end(stage: TestEnvironment): Promise<void> {
  await stage.client.delete(Database, `${stage.namespace}/${NAME}`);
  await stage.until("it is gone", async () => {
    return (await stage.find(Database, NAME)) === undefined && (await stage.list(Pod)).length === 0;
  });
  assert.equal((await stage.list(PersistentVolumeClaim)).length, 2);
}

/** The least of an adoption, for a test that plays it very often. */
export const adoptsVolumesOnce: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  await change(stage, { switchoverTo: pod(1) });
  await leads(stage, 1);
  await isReady(stage);
  await end(stage);
  await stage.apply(replicated({ instances: 2 }));
  await leads(stage, 1);
  await isReady(stage);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};

/** A Database that is applied again has the data that it had, whichever of its servers led last. */
export const adoptsVolumes: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  await change(stage, { switchoverTo: pod(1) });
  await leads(stage, 1);
  await isReady(stage);
  await end(stage);
  await stage.apply(replicated({ instances: 2 }));
  await leads(stage, 1);
  await isReady(stage);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);

  // Fewer servers than there are volumes: the one that led last is among them, and hands over.
  await end(stage);
  await stage.apply(replicated({ instances: 1 }));
  await leads(stage, 0);
  await isReady(stage);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
};

/** Without the volume of the last primary nothing leads, until the user names the pod whose data count. */
export const namesTheVolume: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  await end(stage);
  servers.lose(pod(0));
  await stage.apply(replicated({ instances: 2 }));
  const ready = () => stage.condition(Database, NAME, "Ready");
  await stage.until("it asks", async () => (await ready()) === "False NoVolumeLeads");
  const { status } = await stage.get(Database, NAME);
  const message = status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
  assert.match(
    message,
    /postgres-orders-1 has data of a standby of term 1.* annotation databases\.example\.com\/adopt/,
  );
  await stage.apply(replicated({ instances: 2 }, { "databases.example.com/adopt": pod(1) }));
  await leads(stage, 1);
  await isReady(stage);
  assert.deepEqual(servers.wrongs, []);
};
