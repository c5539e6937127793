import assert from "node:assert/strict";
import { Database, databaseOperator } from "@konverge/database-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { ConfigMap, Node, Pod, StatefulSet } from "konverge/kinds";
import { PretendServers } from "./pretend-servers.ts";
import {
  begun,
  change,
  cordon,
  hasEvent,
  isReady,
  leads,
  loseNode,
  NAME,
  pod,
  primary,
  servedBy,
} from "./replica-stage.ts";

/** A container beside the server that is not ready neither fails over a healthy primary nor takes it from its clients. */
export const outlivesExporter: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2, synchronous: 1, exporter: { image: "example/exporter" } });
  for (const index of [0, 1]) {
    const annotations = { "sim.konverge.dev/exporter.ready": "false" };
    await stage.client.patch(Pod, `${stage.namespace}/${pod(index)}`, { merge: { metadata: { annotations } } });
  }
  const notReady = async (index: number) => (await stage.get(Pod, pod(index))).status?.conditions ?? [];
  await stage.until("the primary's pod is not ready", async () =>
    (await notReady(0)).some(({ type, status }) => type === "Ready" && status === "False"),
  );
  await stage.advance(180_000);
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual([status?.currentPrimary, status?.term, status?.phase], [pod(0), 1, "Running"]);
  for (const service of [NAME, `${NAME}-rw`]) assert.deepEqual(await servedBy(stage, service), [pod(0)]);
  // Its node is lost as well: then it does not answer, and a standby replaces it.
  await loseNode(stage, servers, 0);
  await leads(stage, 1);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};

/** With three servers, a lost primary is replaced unattended by the standby that is furthest ahead. */
export const replacesByDefault: Scenario = async (stage) => {
  const servers = await begun(stage);
  const nodes = (await stage.list(Node)).map(({ metadata }) => metadata.name);
  try {
    for (const name of nodes) await cordon(stage, name, true);
    await stage.client.delete(Pod, `${stage.namespace}/${pod(0)}`, { gracePeriodSeconds: 0 });
    await stage.until("another leads", async () => ![undefined, pod(0)].includes(await primary(stage)));
  } finally {
    for (const name of nodes) await cordon(stage, name, false);
  }
  await isReady(stage);
  assert.equal(servers.roleOf(pod(0)), "standby");
  assert.deepEqual(servers.wrongs, []);
};

/** A node that is cordoned is about to be drained: its primary hands over before its pod is evicted. */
export const leavesCordonedNode: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  const node = (await stage.get(Pod, pod(0))).spec!.nodeName!;
  assert.notEqual((await stage.get(Pod, pod(1))).spec!.nodeName, node);
  const { uid } = (await stage.get(Pod, pod(0))).metadata;
  await cordon(stage, node, true);
  await leads(stage, 1);
  await isReady(stage);
  assert.equal((await stage.get(Pod, pod(0))).metadata.uid, uid, "its pod is still there");
  await stage.advance(120_000);
  assert.equal((await stage.get(Database, NAME)).status?.term, 3, "it hands over once");
  await cordon(stage, node, false);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};

/** A server that does not become ready does not block the drain of the others' nodes forever. */
export const letsNodesDrain: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  const annotations = { "sim.konverge.dev/ready": "false" };
  await stage.client.patch(Pod, `${stage.namespace}/${pod(1)}`, { merge: { metadata: { annotations } } });
  await stage.advance(60_000);
  await assert.rejects(stage.client.evict(`${stage.namespace}/${pod(0)}`, { timeout: 1_000 }), /disruption budget/);
  await stage.advance(300_000);
  await stage.client.evict(`${stage.namespace}/${pod(0)}`);
  await leads(stage, 1);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};

/** The least of a change of parameters, for a test that plays it very often. */
export const restartsOnce: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2, synchronous: 1 });
  await changeParameters(stage, { max_connections: "50" });
  assert.deepEqual(servers.wrongs, []);
};

async function changeParameters(stage: TestEnvironment, parameters: Record<string, string>): Promise<void> {
  await change(stage, { parameters });
  await stage.until("the change has begun", async () => {
    const { data } = await stage.get(ConfigMap, `${NAME}-config`);
    return Object.entries(parameters).every(([name, value]) =>
      data!["postgresql.conf"]!.includes(`${name} = '${value}'`),
    );
  });
  await stage.until(
    "servers have the new parameters",
    async () => (await stage.condition(Database, NAME, "ParametersAsRequested")) === "True AsRequested",
    600_000,
  );
}

/** Parameters that a reload takes restart nothing; others restart servers in their pods, in an order in which all can go on. */
export const changesParameters: Scenario = async (stage) => {
  const servers = await begun(stage, { synchronous: 1 });
  const uids = async () => (await stage.list(Pod)).map(({ metadata }) => metadata.uid).sort();
  const before = await uids();
  await changeParameters(stage, { work_mem: "8MB" });
  assert.deepEqual(servers.restarts, []);
  await changeParameters(stage, { max_connections: "200" });
  assert.deepEqual(servers.restarts.splice(0), [pod(2), pod(1), pod(0)], "the primary comes last");
  await changeParameters(stage, { max_connections: "50" });
  // A standby reports what it can lower when it has replayed that its primary has.
  await stage.until("standbys have restarted, too", () => servers.restarts.length === 3);
  assert.deepEqual(servers.restarts, [pod(0), pod(2), pod(1)], "the primary comes first");
  assert.ok(await hasEvent(stage, "ServerRestarts"));
  assert.deepEqual(await uids(), before, "no pod was replaced");
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual([status?.currentPrimary, status?.term], [pod(0), 1]);
  await isReady(stage);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
};

/** A new version of the operator renders other pods: one Database at a time gets them, the least important first. */
export const updatesOneAtATime: Scenario = async (stage) => {
  new PretendServers(stage).play("postgres");
  let operator = await stage.start(databaseOperator);
  const names = ["postgres-a", "postgres-b", "postgres-c"];
  for (const [index, name] of names.entries()) {
    const annotations = { "databases.example.com/importance": String(-index) };
    const spec = { version: "16.4", size: "1Gi" };
    await stage.apply({ apiVersion: "example.com/v1", kind: "Database", metadata: { name, annotations }, spec });
  }
  const are = (what: string, condition: (database: Database) => boolean) =>
    stage.until(what, async () => (await stage.list(Database)).every(condition), 900_000);
  await are("all run", ({ status }) => status?.phase === "Running");

  // As an older operator rendered them.
  await operator.stop();
  for (const name of names) {
    const template = { spec: { terminationGracePeriodSeconds: 60 } };
    await stage.client.patch(StatefulSet, `${stage.namespace}/${name}`, { merge: { spec: { template } } as never });
    await stage.until("there is another revision", async () => {
      const { status } = await stage.get(StatefulSet, name);
      return status?.updateRevision !== status?.currentRevision;
    });
    await stage.client.delete(Pod, `${stage.namespace}/${name}-0`, { gracePeriodSeconds: 0 });
    await stage.until("its pod is older", async () => {
      return (await stage.find(Pod, `${name}-0`))?.spec?.terminationGracePeriodSeconds === 60;
    });
  }
  operator = await stage.start(databaseOperator);
  await stage.until("they wait for their turn", async () =>
    (await stage.list(Database)).some(({ status }) => status?.update === "Waiting"),
  );
  await are("all run", ({ status }) => status?.phase === "Running");
  const order: string[] = [];
  await stage.until(
    "all have the new pods",
    async () => {
      const pods = await stage.list(Pod);
      const isNew = pods
        .filter(({ spec }) => spec?.terminationGracePeriodSeconds !== 60)
        .map(({ metadata }) => metadata.name);
      order.push(...isNew.filter((name) => !order.includes(name)).sort());
      const updating = (await stage.list(Database)).filter(({ status }) => status?.update === "Updating");
      assert.ok(updating.length <= 1, "one at a time");
      return isNew.length === names.length;
    },
    900_000,
  );
  assert.deepEqual(order, ["postgres-c-0", "postgres-b-0", "postgres-a-0"]);
  await are("none is updated any more", ({ status }) => status?.update === undefined);
};
