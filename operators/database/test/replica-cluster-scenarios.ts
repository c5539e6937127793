import assert from "node:assert/strict";
import { Database, databaseOperator } from "@konverge/database-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { ConfigMap, Pod, Secret } from "konverge/kinds";
import { PretendServers } from "./pretend-servers.ts";
import { change, hasEvent, loseNode, NAME, pod, primary, replicated } from "./replica-stage.ts";

const SOURCE = "host=east.example.com port=5432";
const encoded = (text: string) => Buffer.from(text).toString("base64");
const replica = (spec: object = {}) => ({ source: { host: "east.example.com", secretName: "east" }, ...spec });

/** A Database with standbys that follows one elsewhere, which has two rows. */
async function followed(stage: TestEnvironment, instances: number): Promise<PretendServers> {
  const servers = new PretendServers(stage);
  servers.play("postgres");
  servers.sources.set(SOURCE, ["east 1", "east 2"]);
  await stage.start(databaseOperator);
  const passwords = { password: encoded("p"), "replication-password": encoded("r"), "monitor-password": encoded("m") };
  await stage.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "east" }, data: passwords });
  await stage.apply(replicated({ instances, replica: replica() }));
  await isFollowing(stage, "True Streaming");
  await isReady(stage);
  return servers;
}

const isFollowing = (stage: TestEnvironment, expected: string) =>
  stage.until(
    `Following is ${expected}`,
    async () => (await stage.condition(Database, NAME, "Following")) === expected,
  );
const isReady = (stage: TestEnvironment) =>
  stage.until("it is ready", async () => (await stage.condition(Database, NAME, "Ready")) === "True Running");
const isPromoted = (stage: TestEnvironment, servers: PretendServers) =>
  stage.until("it takes writes", async () => {
    const { status } = await stage.get(Database, NAME);
    return status?.replica === undefined && servers.acknowledged.length > 0;
  });

/** It follows, whichever server receives; it is promoted with all rows when it has enough of them, and demoted again. */
export const followsAnother: Scenario = async (stage) => {
  const servers = await followed(stage, 3);
  assert.deepEqual(servers.rowsOf(pod(2)), ["east 1", "east 2"]);
  assert.equal((await stage.get(Database, NAME)).status?.replica?.source, "east.example.com:5432");
  const secret = (await stage.get(Secret, `${NAME}-credentials`)).data!;
  assert.equal(
    secret["replication-password"],
    encoded("r"),
    "the servers are copies, with the passwords of the source",
  );

  // The server that receives is lost: no other has to be fenced, and none takes writes.
  await loseNode(stage, servers, 0);
  await stage.until("another receives", async () => ![undefined, pod(0)].includes(await primary(stage)));
  await isFollowing(stage, "True Streaming");
  assert.ok(await hasEvent(stage, "ReceiverReplaced"));
  assert.deepEqual(servers.acknowledged, []);

  // It is promoted when it has received more than what the source reports as its end.
  await change(stage, { replica: replica({ enabled: false, promoteAt: "0/5" }) });
  await isFollowing(stage, "True PromotionWaits");
  await stage.advance(60_000);
  assert.deepEqual(servers.acknowledged, []);
  servers.sources.set(SOURCE, ["east 1", "east 2", "east 3"]);
  await isPromoted(stage, servers);
  await stage.until("it is reported", async () => (await primary(stage)) !== undefined);
  const leader = (await primary(stage))!;
  assert.deepEqual(servers.rowsOf(leader).slice(0, 3), ["east 1", "east 2", "east 3"]);
  servers.nothingLost(leader);

  // It follows again, and takes no more writes.
  await change(stage, { replica: replica({ enabled: true }) });
  await isFollowing(stage, "True Streaming");
  const written = servers.acknowledged.length;
  await stage.advance(60_000);
  assert.equal(servers.acknowledged.length, written);
  assert.deepEqual(servers.wrongs, []);
};

/** Without the passwords of the source it reports that, and follows when they are there. Its servers never lead before they are promoted. */
export const waitsForPasswords: Scenario = async (stage) => {
  const servers = new PretendServers(stage);
  servers.play("postgres");
  await stage.start(databaseOperator);
  await stage.apply(replicated({ instances: 2, replica: replica() }));
  await isFollowing(stage, "False SecretMissing");
  const data = { password: encoded("p"), "replication-password": encoded("r"), "monitor-password": encoded("m") };
  await stage.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "east" }, data });
  await isFollowing(stage, "False NotStreaming");
  servers.sources.set(SOURCE, ["east 1"]);
  await isFollowing(stage, "True Streaming");

  // A Database that is applied again follows again, and does not lead for a moment.
  await stage.client.delete(Database, `${stage.namespace}/${NAME}`);
  await stage.until("it is gone", async () => (await stage.find(Database, NAME)) === undefined);
  await stage.until("its pods are gone", async () => (await stage.list(Pod, "app=database")).length === 0);
  await stage.until("so is its topology", async () => (await stage.find(ConfigMap, `${NAME}-topology`)) === undefined);
  await stage.apply(replicated({ instances: 2, replica: replica() }));
  await isFollowing(stage, "True Streaming");
  assert.deepEqual(servers.acknowledged, []);
  assert.deepEqual(servers.wrongs, []);
};

/** The least of it, for a test that plays it very often. */
export const promotesOnce: Scenario = async (stage) => {
  const servers = await followed(stage, 2);
  await change(stage, { replica: replica({ enabled: false }) });
  await isPromoted(stage, servers);
  await isReady(stage);
  assert.deepEqual(servers.rowsOf(pod(0)).slice(0, 2), ["east 1", "east 2"]);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
};
