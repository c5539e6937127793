import assert from "node:assert/strict";
import { Database, databaseOperator, passwordDigest } from "@konverge/database-operator";
import { installForeignKind, type Scenario, supplyVolumes } from "@konverge/operator-suite";
import { ConfigMap, Node, PersistentVolumeClaim, Pod, Secret, Service } from "konverge/kinds";
import {
  begun,
  change,
  cordon,
  hasEvent,
  isLabelled,
  isReady,
  labelled,
  leads,
  loseNode,
  NAME,
  pod,
  primary,
  replicated,
  servedBy,
  silence,
} from "./replica-stage.ts";

/** A primary and its standbys, each of them selected by its Service; standbys are added and removed on request. */
export const replicates: Scenario = async (stage) => {
  const servers = await begun(stage);
  assert.equal(await primary(stage), pod(0));
  assert.deepEqual(await labelled(stage, "primary"), [pod(0)]);
  assert.deepEqual(await labelled(stage, "standby"), [pod(1), pod(2)]);
  for (const service of [NAME, `${NAME}-rw`]) assert.deepEqual(await servedBy(stage, service), [pod(0)]);
  assert.deepEqual(await servedBy(stage, `${NAME}-ro`), [pod(1), pod(2)]);
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual([status?.instances, status?.readyInstances, status?.term, status?.timeline], [3, 3, 1, 1]);
  assert.match((await stage.get(ConfigMap, `${NAME}-topology`)).data!["topology"]!, /^fresh=no$/m);

  // What is deleted or edited by hand comes back as it was.
  await stage.client.delete(ConfigMap, `${stage.namespace}/${NAME}-topology`);
  await stage.until("the topology is back", async () => {
    const found = await stage.find(ConfigMap, `${NAME}-topology`);
    return found?.data?.["topology"]?.includes(`primary=${pod(0)}\n`) ?? false;
  });
  const label = { merge: { metadata: { labels: { "database-role": "primary" } } } };
  await stage.client.patch(Pod, `${stage.namespace}/${pod(1)}`, label);
  await stage.until("only one is the primary", async () => (await labelled(stage, "primary")).length === 1);

  // Fewer: the last ones go, their volumes stay.
  await change(stage, { instances: 2 });
  await stage.until("it is deleted", async () => (await stage.find(Pod, pod(2))) === undefined);
  assert.ok(await stage.find(PersistentVolumeClaim, `data-${pod(2)}`));
  await isReady(stage);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
  await stage.settled();
  const writes = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), writes);
};

/** The least of a switchover, for a test that plays it very often. */
export const switchesOverOnce: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  await change(stage, { switchoverTo: pod(1) });
  await leads(stage, 1);
  await isReady(stage);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};

/** The least of a failover: the old primary is never heard of again. */
export const failsOverOnce: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2, synchronous: 1 });
  await loseNode(stage, servers, 0);
  await leads(stage, 1);
  await stage.until("it takes writes", () => servers.roleOf(pod(1)) === "primary");
  await isLabelled(stage, 1);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};

/** A requested switchover makes another server the primary, and nothing is lost. */
export const switchesOver: Scenario = async (stage) => {
  const servers = await begun(stage);
  await change(stage, { switchoverTo: pod(2) });
  await leads(stage, 2);
  await isReady(stage);
  await isLabelled(stage, 2);
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual([status?.term, status?.timeline, status?.lastSwitchover], [3, 2, pod(2)]);
  assert.ok(await hasEvent(stage, "SwitchedOver"));
  servers.nothingLost(pod(2));
  assert.deepEqual(servers.wrongs, []);

  // Who leads is not among those that go.
  await change(stage, { instances: 2 });
  await stage.until("it is deleted", async () => (await stage.find(Pod, pod(2))) === undefined);
  assert.notEqual(await primary(stage), pod(2));
  await isReady(stage);
  servers.nothingLost((await primary(stage))!);
  assert.deepEqual(servers.wrongs, []);
};

/** The primary's pod is deleted and finds no node: another leads, with all rows, and when it is back it is a standby. */
export const replacesPrimary: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  const nodes = (await stage.list(Node)).map(({ metadata }) => metadata.name);
  try {
    for (const name of nodes) await cordon(stage, name, true);
    await stage.client.delete(Pod, `${stage.namespace}/${pod(0)}`);
    await leads(stage, 1);
    await stage.until("it takes writes", () => servers.roleOf(pod(1)) === "primary");
    await isLabelled(stage, 1);
    await stage.until("it is reported", () => hasEvent(stage, "SwitchedOver"));
    servers.nothingLost(pod(1));
  } finally {
    for (const name of nodes) await cordon(stage, name, false);
  }
  await isReady(stage);
  assert.equal(await primary(stage), pod(1));
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};

/** The node of the primary is lost. With synchronous standbys, another is promoted, and nothing acknowledged is lost. */
export const failsOver: Scenario = async (stage) => {
  const servers = await begun(stage, { synchronous: 1 });
  const node = await loseNode(stage, servers, 0);
  await stage.until("another leads", async () => ![undefined, pod(0)].includes(await primary(stage)));
  const next = (await primary(stage))!;
  await stage.until("it takes writes", () => servers.roleOf(next) === "primary");
  await stage.until("it alone is labelled", async () => (await labelled(stage, "primary")).join() === next);
  await stage.until("it is reported", () => hasEvent(stage, "FailedOver"));
  servers.nothingLost(next);
  assert.deepEqual(servers.wrongs, []);

  // The node is back: the old primary is a standby.
  await silence(stage, node, null);
  await isReady(stage);
  assert.equal(await primary(stage), next);
  assert.equal(servers.roleOf(pod(0)), "standby");
  servers.nothingLost(next);
  assert.deepEqual(servers.wrongs, []);
};

/** A primary whose pod is lost, and that is back in time, leads on. */
export const comesBack: Scenario = async (stage) => {
  const servers = await begun(stage, { failover: { delay: "60s", allowDataLoss: true } });
  const { uid } = (await stage.get(Pod, pod(0))).metadata;
  await stage.client.delete(Pod, `${stage.namespace}/${pod(0)}`, { gracePeriodSeconds: 0 });
  await stage.until(
    "it is back",
    async () => ![undefined, uid].includes((await stage.find(Pod, pod(0)))?.metadata.uid),
  );
  await isReady(stage);
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual([status?.currentPrimary, status?.term, status?.primaryLostSince], [pod(0), 1, undefined]);
  servers.nothingLost(pod(0));
  assert.deepEqual(servers.wrongs, []);
};

/** Another version goes to standbys first; then one of them leads, and the old primary is replaced last. */
export const rollsOut: Scenario = async (stage) => {
  const servers = await begun(stage, { synchronous: 1 });
  await change(stage, { version: "16.9" });
  await stage.until("all have it", async () => {
    const images = (await stage.list(Pod)).map(({ spec }) => spec?.containers[0]?.image);
    const isNew = images.length === 3 && images.every((image) => image === "postgres:16.9");
    return isNew && (await stage.condition(Database, NAME, "VersionAsRequested")) === "True AsRequested";
  });
  const replaced = (await stage.events(Database, NAME)).filter((text) => text.includes("ServerReplaced"));
  const order = replaced.map((text) => text.split(" ")[2]);
  assert.deepEqual(order, [pod(2), pod(1), pod(0)]);
  assert.equal(await primary(stage), pod(1));
  await isReady(stage);
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);

  // Data of a newer major version could not be read.
  await change(stage, { version: "15.2" });
  await stage.until(
    "it is refused",
    async () => (await stage.condition(Database, NAME, "VersionAsRequested")) === "False MajorUpgradeRefused",
  );
  await stage.settled();
  for (const { spec } of await stage.list(Pod)) assert.equal(spec?.containers[0]?.image, "postgres:16.9");
  assert.equal(await stage.condition(Database, NAME, "Ready"), "True Running");
};

/** Servers whose stop takes long hand over once, and not again and again without anybody who takes writes. */
export const stopsSlowly: Scenario = async (stage) => {
  const servers = await begun(stage);
  servers.stopTakes = 90;
  servers.writtenAt.length = 0;
  await change(stage, { version: "16.9" });
  await stage.until(
    "all have it",
    async () => (await stage.condition(Database, NAME, "VersionAsRequested")) === "True AsRequested",
    900_000,
  );
  await isReady(stage);
  const gaps = servers.writtenAt.slice(1).map((at, index) => at - servers.writtenAt[index]!);
  const long = gaps.filter((gap) => gap > 30_000);
  assert.equal(long.length, 1, `without a writer for ${long.join(" ms, ")} ms`);
  // The stop itself, and the minute that a simulated node takes to bring a file up to date.
  assert.ok(long[0]! < 160_000, `without a writer for ${long[0]} ms`);
  assert.equal(await primary(stage), pod(1));
  servers.nothingLost(pod(1));
  assert.deepEqual(servers.wrongs, []);
};

/** The status names a primary when it is one, and says whether another would replace it. */
export const namesThePrimary: Scenario = async (stage) => {
  const servers = await begun(stage);
  assert.equal(await stage.condition(Database, NAME, "AutomaticFailover"), "True DataLossAllowed");
  servers.promotionTakes = 20;
  await change(stage, { switchoverTo: pod(2), synchronous: 1 });
  await stage.until("it shall lead", async () => {
    const { data } = await stage.get(ConfigMap, `${NAME}-topology`);
    return data!["topology"]!.includes(`primary=${pod(2)}\n`);
  });
  await stage.advance(5_000);
  assert.equal(await primary(stage), undefined);
  await leads(stage, 2);
  assert.equal(servers.roleOf(pod(2)), "primary");
  assert.equal(await stage.condition(Database, NAME, "AutomaticFailover"), "True SynchronousStandbys");
};

/** What is reported of standbys is withdrawn when there are none any more. */
export const reportsNoStandbys: Scenario = async (stage) => {
  await begun(stage, { instances: 2 });
  assert.equal(await stage.condition(Database, NAME, "AutomaticFailover"), "False NoSynchronousStandby");
  await change(stage, { instances: 1 });
  const reported = () => stage.condition(Database, NAME, "AutomaticFailover");
  await stage.until("nothing is reported", async () => (await reported()) === undefined);
};

/** A standby that takes a while to be promoted is named when it leads, though no pod changes then. */
export const namesThePromoted: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2, synchronous: 1 });
  servers.promotionTakes = 20;
  await loseNode(stage, servers, 0);
  await stage.until("it is promoted", () => servers.roleOf(pod(1)) === "primary");
  await stage.advance(3_000);
  assert.equal(await primary(stage), pod(1));
};

/** A new password is set in the server before it is published in the Secret; a deleted Secret is recreated. */
export const rotates: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  const password = async (key = "password") => {
    const data = (await stage.find(Secret, `${NAME}-credentials`))?.data?.[key];
    return data === undefined ? undefined : Buffer.from(data, "base64").toString();
  };
  const first = (await password())!;
  servers.password = passwordDigest(first);
  await stage.apply(replicated({ instances: 2 }, { "databases.example.com/rotate": "now" }));
  await stage.until("there is a next one", async () => (await password("next-password")) !== undefined);
  const next = (await password("next-password"))!;
  await stage.advance(10_000);
  assert.equal(await password(), first, "until the server has it, the Secret has the old one");
  servers.password = passwordDigest(next);
  await stage.until("it is the password", async () => (await password()) === next);
  assert.equal(await password("next-password"), undefined);
  await stage.advance(60_000);
  assert.equal(await password(), next, "it is asked for once");

  await stage.client.delete(Secret, `${stage.namespace}/${NAME}-credentials`);
  await stage.until("there is another", async () => ![undefined, next].includes(await password()));
  assert.match((await password("replication-password"))!, /^\w{24}$/);
};

/** Volumes that are nearly full grow, all of them, up to their limit. */
export const growsWhenFull: Scenario = async (stage) => {
  const storage = { growWhenUsed: 80, step: "512Mi", limit: "2Gi" };
  const servers = await begun(stage, { instances: 2, size: "1Gi", storage });
  const sizes = async () => {
    const claims = await stage.list(PersistentVolumeClaim);
    return claims.map(({ spec }) => spec?.resources?.requests?.["storage"]).join(" ");
  };
  assert.equal(await sizes(), "1Gi 1Gi");
  servers.used = 900_000;
  await stage.until("they have grown", async () => (await sizes()) === "1536Mi 1536Mi");
  // The file system has not grown yet: it is not asked for more.
  await stage.advance(180_000);
  assert.equal(await sizes(), "1536Mi 1536Mi");
  servers.size = 1_572_864;
  servers.used = 1_500_000;
  await stage.until("they are as large as they may become", async () => (await sizes()) === "2Gi 2Gi");
  servers.size = 2_097_152;
  servers.used = 2_097_000;
  await stage.until(
    "it says that they may not grow",
    async () => (await stage.condition(Database, NAME, "StorageAsRequested")) === "False LimitReached",
  );
  assert.ok(await hasEvent(stage, "LimitReached"));
};

/** Poolers, and exporters with a PodMonitor. */
export const hasCompany: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi");
  const monitor = {
    group: "monitoring.coreos.com",
    version: "v1",
    kind: "PodMonitor",
    plural: "podmonitors",
    namespaced: true,
  };
  await installForeignKind(stage, monitor);
  await stage.start(databaseOperator);
  const pooler = { instances: 2, mode: "session", maxClients: 50, poolSize: 5 };
  await stage.apply(replicated({ instances: 1, pooler, exporter: {} }));
  await stage.until("it runs", async () => (await stage.find(Database, NAME))?.status?.phase === "Running");
  const config = (await stage.get(ConfigMap, `${NAME}-pooler`)).data!["pgbouncer.ini"]!;
  assert.match(config, /^\* = host=postgres-orders-rw port=5432$/m);
  assert.match(config, /^pool_mode = session$/m);
  assert.ok(await stage.find(Service, `${NAME}-pooler`));
  const { spec } = await stage.get(Pod, pod(0));
  assert.deepEqual(
    spec?.containers.map(({ name }) => name),
    ["database", "exporter"],
  );
  assert.equal(spec?.containers[1]?.ports?.[0]?.containerPort, 9187);
  await stage.until("the PodMonitor is created", async () => (await stage.find(monitor, NAME)) !== undefined);
  await stage.client.patch(Database, `${stage.namespace}/${NAME}`, {
    merge: { spec: { exporter: null, pooler: null } } as never,
  });
  await stage.until("the PodMonitor is deleted", async () => (await stage.find(monitor, NAME)) === undefined);
  await stage.until("the pooler is deleted", async () => (await stage.find(Service, `${NAME}-pooler`)) === undefined);
};
