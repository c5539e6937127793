import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { Database, databaseOperator } from "@konverge/database-operator";
import { isReported, type Scenario, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { ConfigMap, CronJob, Job, PersistentVolumeClaim, Pod, Secret, Service, StatefulSet } from "konverge/kinds";

import { VirtualClock } from "konverge/time";
import { builtInCertificates } from "konverge/webhooks";

export const sample = (name: string) => readFileSync(new URL(`../samples/${name}.yaml`, import.meta.url), "utf8");

const phase = async (stage: TestEnvironment, name: string) => (await stage.find(Database, name))?.status?.phase;
export const running = (stage: TestEnvironment, name: string) =>
  stage.until(`${name} runs`, async () => (await phase(stage, name)) === "Running");

/** A server with its volume, Service, settings and password. */
export const lives: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(databaseOperator);
  await stage.apply(sample("database"));
  await running(stage, "postgres-orders");
  const { spec } = await stage.get(StatefulSet, "postgres-orders");
  const server = spec!.template.spec!.containers[0]!;
  assert.equal(server.image, "postgres:16.4");
  assert.equal(server.env![0]!.name, "POSTGRES_PASSWORD");
  assert.deepEqual(server.resources, {
    requests: { memory: "256Mi", cpu: "100m" },
    limits: { memory: "512Mi", cpu: "500m" },
  });
  const password = (await stage.get(Secret, "postgres-orders-credentials")).data!["password"]!;
  assert.equal(Buffer.from(password, "base64").length, 24);
  assert.ok(await stage.find(Service, "postgres-orders"));
  assert.ok(await stage.find(ConfigMap, "postgres-orders-config"));
  const { metadata } = await stage.get(Database, "postgres-orders");
  assert.deepEqual(metadata.finalizers, ["databases.example.com/finalizer"]);

  // Deleted and edited children come back; the password stays.
  await stage.client.delete(Service, `${stage.namespace}/postgres-orders`);
  await stage.until("the Service is back", async () => (await stage.find(Service, "postgres-orders")) !== undefined);
  await stage.client.patch(StatefulSet, `${stage.namespace}/postgres-orders`, { merge: { spec: { replicas: 0 } } });
  await stage.until(
    "the server is back",
    async () => (await stage.get(StatefulSet, "postgres-orders")).spec?.replicas === 1,
  );
  await running(stage, "postgres-orders");
  assert.equal((await stage.get(Secret, "postgres-orders-credentials")).data!["password"], password);
  await stage.settled();
};

/** A server with a schedule of backups, none of which comes due, and nothing else. */
export const made: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi");
  await stage.start(databaseOperator);
  await stage.apply(sample("database").replace("size: 5Gi", 'size: 5Gi\n  backup: {schedule: "0 3 1 7 *"}'));
  await running(stage, "postgres-orders");
  await stage.settled();
};

/** The object is deleted once the server has stopped; its volume stays by default. */
export const ends: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi", "20Gi");
  await stage.start(databaseOperator);
  await stage.apply(sample("database"));
  await stage.apply(sample("with-backups"));
  await running(stage, "postgres-orders");
  await running(stage, "shop");
  for (const name of ["postgres-orders", "shop"]) await stage.client.delete(Database, `${stage.namespace}/${name}`);
  await stage.until("everything is deleted but the retained volume", async () => {
    const left = [...(await stage.list(Database)), ...(await stage.list(StatefulSet)), ...(await stage.list(Pod))];
    const claims = (await stage.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.name);
    return left.length === 0 && claims.length === 1 && claims[0] === "data-postgres-orders-0";
  });
};

/** Volumes grow, never shrink. */
export const resized: Scenario = async (stage) => {
  await stage.start(databaseOperator);
  await stage.apply(sample("database"));
  await running(stage, "postgres-orders");
  const size = async () =>
    (await stage.get(PersistentVolumeClaim, "data-postgres-orders-0")).spec?.resources?.requests?.["storage"];
  await stage.apply(sample("database").replace("5Gi", "8Gi"));
  await stage.until("the claim has grown", async () => (await size()) === "8Gi");
  await stage.apply(sample("database").replace("5Gi", "4Gi"));
  await stage.until(
    "the shrinking is refused",
    async () => (await stage.condition(Database, "postgres-orders", "StorageAsRequested")) === "False ShrinkRefused",
  );
  assert.equal(await size(), "8Gi");
  assert.equal(await phase(stage, "postgres-orders"), "Running");
  await stage.until("it is reported", async () =>
    (await stage.events(Database, "postgres-orders")).some((event) => event.includes("ShrinkRefused")),
  );
  await stage.settled();
  const writes = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), writes);
};

/** Another version rolls out, with the data and the password it had; a password that is given beforehand is used. */
export const upgraded: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  const given = Buffer.from("chosen by hand").toString("base64");
  const credentials = { name: "postgres-orders-credentials", namespace: stage.namespace };
  await stage.client.create(Secret, { metadata: credentials, data: { password: given } });
  await stage.start(databaseOperator);
  await stage.apply(sample("database"));
  await running(stage, "postgres-orders");
  const volume = (await stage.get(PersistentVolumeClaim, "data-postgres-orders-0")).metadata.uid;
  await stage.apply(sample("database").replace("16.4", "16.9"));
  await stage.until("the new version runs", async () => {
    const pod = await stage.find(Pod, "postgres-orders-0");
    return pod?.spec?.containers[0]?.image === "postgres:16.9" && (await phase(stage, "postgres-orders")) === "Running";
  });
  assert.equal((await stage.get(PersistentVolumeClaim, "data-postgres-orders-0")).metadata.uid, volume);
  assert.equal((await stage.get(Secret, credentials.name)).data!["password"], given);
};

/** Backups are taken on schedule and get DatabaseBackups. */
export const backups: Scenario = async (stage) => {
  await stage.start(databaseOperator);
  await stage.apply(sample("with-backups").replace('"0 3 * * *"', '"* * * * *"'));
  await running(stage, "shop");
  const { spec } = await stage.get(CronJob, "shop-backup");
  const [container] = spec!.jobTemplate!.spec!.template.spec!.containers;
  assert.match(container!.command!.join(" "), /backup/);
  await stage.until("a backup was taken", async () => (await stage.list(Job)).length > 0, 180_000);
  await stage.until(
    "the status tells of it",
    async () => (await stage.get(Database, "shop")).status?.lastBackupTime !== undefined,
    180_000,
  );
};

/** A Database with standbys becomes ready even where nothing really runs: without reports, no failover happens. */
export const unheard: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi", "20Gi");
  await stage.start(databaseOperator);
  await stage.apply(sample("replicated"));
  await stage.until(
    "all servers run",
    async () => (await stage.condition(Database, "postgres-payments", "Ready")) === "True Running",
  );
  const { status } = await stage.get(Database, "postgres-payments");
  assert.deepEqual([status?.currentPrimary, status?.readyInstances], ["postgres-payments-0", 3]);
  assert.ok(await stage.find(Service, "postgres-payments-pooler"));
  await stage.apply(sample("replicated").replace("16.4", "16.9"));
  await stage.until("all have the new version", async () => {
    const pods = await stage.list(Pod, "app=database");
    const isNew = pods.every(({ spec }) => spec?.containers[0]?.image === "postgres:16.9");
    return isNew && (await stage.condition(Database, "postgres-payments", "Ready")) === "True Running";
  });
};

/** A hibernated database has no server, and all of its data. */
export const hibernates: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(databaseOperator);
  await stage.apply(sample("database"));
  await running(stage, "postgres-orders");
  await stage.client.patch(Database, `${stage.namespace}/postgres-orders`, { merge: { spec: { hibernated: true } } });
  await stage.until("it sleeps", async () => {
    const asleep = (await stage.condition(Database, "postgres-orders", "Ready")) === "False Hibernated";
    return asleep && (await stage.list(Pod)).length === 0;
  });
  assert.ok(await stage.find(PersistentVolumeClaim, "data-postgres-orders-0"));
  await stage.client.patch(Database, `${stage.namespace}/postgres-orders`, { merge: { spec: { hibernated: false } } });
  await stage.until(
    "it is awake",
    async () => (await stage.condition(Database, "postgres-orders", "Ready")) === "True Running",
  );
};

/** What could never run is refused; what cannot run now says why and recovers. */
export const badInput: Scenario = async (stage) => {
  // One for the data and one for the backups of the schedule that is refused below: either claim may bind first.
  await supplyVolumes(stage, "20Gi", "20Gi");
  await stage.start(databaseOperator);
  const refused = (change: (text: string) => string, message: RegExp) =>
    assert.rejects(stage.apply(change(sample("database"))), message);
  await refused((text) => text.replace("size: 5Gi", "size: 10"), /spec\.size/);
  await refused((text) => text.replace("size: 5Gi", 'size: "1.5Gi"'), /should match/);
  await refused((text) => text.replace("5Gi", "5Foo"), /must be the size of a volume/);
  await refused((text) => text.replace(/ +version: .*\n/, ""), /spec\.version: Required value/);
  await refused((text) => `${text}  engine: oracle\n`, /Unsupported value: "oracle"/);
  const refusedWith = (field: string, message: RegExp) => refused((text) => `${text}  ${field}\n`, message);
  await refusedWith("instances: 0", /spec\.instances.*greater than or equal to 1/);
  await refusedWith("instances: many", /spec\.instances/);
  await refusedWith("synchronous: 1", /must be less than spec\.instances \(1\)/);
  await refusedWith("failover: {delay: soon}", /spec\.failover\.delay/);
  await refusedWith("failover: {allowDataLoss: perhaps}", /allowDataLoss/);
  await refusedWith('switchoverTo: ""', /spec\.switchoverTo/);
  await refusedWith("runAsUser: 0", /spec\.runAsUser/);
  await refusedWith("storage: {growWhenUsed: 100, limit: 9Gi}", /spec\.storage\.growWhenUsed/);
  await refusedWith("storage: {step: a bit, limit: 9Gi}", /spec\.storage\.step/);
  await refusedWith("storage: {limit: 1Gi}", /must not be less than spec\.size \(5Gi\)/);
  await refusedWith("storage: {}", /spec\.storage\.limit: Required value/);
  await refusedWith("resources: {requests: {cpu: lots}}", /spec\.resources\.requests\.cpu.*must be a quantity/);
  await refusedWith("resources: {limits: {memory: -1Gi}}", /spec\.resources\.limits\.memory.*must be a quantity/);
  await refusedWith("resources: {requests: {cpu: 2}, limits: {cpu: 500m}}", /must not be more than its limit \(500m\)/);
  await refusedWith('bootstrap: {targetLSN: 0/1, targetTime: "2026-01-01T00:00:00Z"}', /set at most one of them/);
  await refusedWith('bootstrap: {targetXID: "7"}', /needs from\.backup/);
  await refusedWith("credentials: {rotateEvery: weekly}", /spec\.credentials\.rotateEvery/);
  await refusedWith("pooler: {mode: magic}", /Unsupported value: "magic"/);
  await refusedWith('exporter: {image: ""}', /spec\.exporter\.image/);
  await refusedWith('parameters: {listen_addresses: "*"}', /is set by the operator/);
  await refusedWith('parameters: {"a b": c}', /must be the name of a setting/);
  for (const field of ["instances: 2", "pooler: {}", "storage: {limit: 9Gi}", "credentials: {rotateEvery: 1h}"]) {
    await refusedWith(`engine: mysql\n  ${field}`, /is supported for postgres only/);
  }
  assert.equal(await stage.find(Database, "postgres-orders"), undefined);

  // Errors that only the API server detects are reported.
  await stage.apply(`${sample("database")}  backup: {schedule: sometimes}\n`);
  await isReported(stage, Database, "postgres-orders", {
    condition: /^Ready False Invalid .*spec\.schedule/,
    event: /Warning Invalid .*spec\.schedule/,
  });
  const huge = "  resources:\n    requests:\n      memory: 900Ti\n";
  await stage.apply(`${sample("database")}${huge}`);
  await stage.until(
    "the missing capacity is reported",
    async () => (await stage.condition(Database, "postgres-orders", "Ready")) === "False NoRoom",
  );
  assert.equal(await phase(stage, "postgres-orders"), "Creating");
  await stage.until("it is reported", async () =>
    (await stage.events(Database, "postgres-orders")).some((event) => /Insufficient memory/.test(event)),
  );
  await stage.settled();
  const writes = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), writes);
  await stage.apply(sample("database"));
  await running(stage, "postgres-orders");
  await assert.rejects(
    stage.apply(`${sample("database")}  engine: mysql\n`),
    /the data of postgres cannot be read by mysql/,
  );
};

/** The server itself refuses what MySQL does not have, without the operator's webhook. */
export const mysqlLimits: Scenario = async (stage) => {
  await stage.install(databaseOperator);
  const database = (name: string, fields: object) => ({
    apiVersion: "example.com/v1",
    kind: "Database",
    metadata: { name },
    spec: { version: "8.4", size: "5Gi", ...fields },
  });
  const postgresOnly = {
    instances: 2,
    switchoverTo: "orders-1",
    storage: { limit: "9Gi" },
    pooler: {},
    application: {},
    enableSuperuserAccess: true,
    tls: {},
    credentials: { rotateEvery: "720h" },
    backup: { drill: { schedule: "0 5 * * 0" } },
  };
  for (const [field, value] of Object.entries(postgresOnly)) {
    const words = new RegExp(`spec\\.${field}.*Forbidden: ${field}[.a-zA-Z]* is supported for postgres only`);
    await assert.rejects(stage.apply(database("orders", { [field]: value })), words);
    await assert.rejects(stage.apply(database("postgres-orders", { engine: "mysql", [field]: value })), words);
    await stage.apply(database("postgres-orders", { [field]: value }));
  }
  await stage.apply(database("orders", { instances: 1 }));
};

/** An application database: a separate Secret with everything that clients need, which servers read; a given password stays. */
export const application: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(databaseOperator);
  const refused = (owner: string, words: RegExp) =>
    assert.rejects(stage.apply(`${sample("database")}  application: {owner: ${owner}}\n`), words);
  await refused("postgres", /this role belongs to the server or to the operator/);
  await refused("pg_monitor", /this role belongs to the server or to the operator/);
  await refused("a-b", /spec\.application\.owner/);
  await stage.client.create(Secret, {
    metadata: { name: "postgres-orders-app", namespace: stage.namespace },
    data: { password: Buffer.from("p@ss:word").toString("base64") },
  });
  await stage.apply(`${sample("database")}  application: {database: shop, owner: clerk}\n`);
  await running(stage, "postgres-orders");
  const held = async () => {
    const data = Object.entries((await stage.get(Secret, "postgres-orders-app")).data ?? {});
    return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  };
  const host = `postgres-orders.${stage.namespace}.svc`;
  assert.deepEqual(await held(), {
    username: "clerk",
    password: "p@ss:word",
    dbname: "shop",
    host,
    port: "5432",
    uri: `postgresql://clerk:p%40ss%3Aword@${host}:5432/shop`,
    "jdbc-uri": `jdbc:postgresql://${host}:5432/shop?user=clerk&password=p%40ss%3Aword`,
    pgpass: `${host}:5432:shop:clerk:p@ss\\:word\n`,
  });
  const { spec } = await stage.get(StatefulSet, "postgres-orders");
  const volume = spec!.template.spec!.volumes!.find(({ name }) => name === "application");
  assert.equal(volume?.secret?.secretName, "postgres-orders-app");
  assert.equal((await stage.get(Database, "postgres-orders")).status?.applicationSecretName, "postgres-orders-app");
  await keepsSuperuserOut(stage);
  // A password that is made goes with its Secret, and another is made.
  await stage.client.delete(Secret, `${stage.namespace}/postgres-orders-app`);
  await stage.until("there is another", async () => {
    return (await stage.find(Secret, "postgres-orders-app"))?.type === "kubernetes.io/basic-auth";
  });
  assert.match((await held())["password"]!, /^\w{24}$/);
  await stage.apply(sample("database"));
  await stage.until("it goes with the field", async () => !(await stage.find(Secret, "postgres-orders-app")));
};

/** With a role for the application, the superuser logs in nowhere, unless that is turned on; poolers do without it. */
async function keepsSuperuserOut(stage: TestEnvironment): Promise<void> {
  const rules = async () => (await stage.get(ConfigMap, "postgres-orders-config")).data?.["pg_hba.conf"] ?? "";
  assert.match(await rules(), /^host all postgres all reject\nhost all all all scram-sha-256$/m);
  assert.equal((await stage.get(Database, "postgres-orders")).status?.secretName, undefined);
  assert.equal((await stage.get(Secret, "postgres-orders-credentials")).data?.["uri"], undefined);
  const spec = `${sample("database")}  application: {database: shop, owner: clerk}\n`;
  await assert.rejects(stage.apply(`${spec}  backup: {method: logical}\n`), /dumps are taken by the superuser/);
  const closed = `${sample("database")}  enableSuperuserAccess: false\n  pooler: {}\n`;
  await assert.rejects(stage.apply(closed), /a pooler needs application or enableSuperuserAccess/);
  const pooler = async () => (await stage.find(ConfigMap, "postgres-orders-pooler"))?.data?.["pgbouncer.ini"];
  const users = async () => {
    const { data } = await stage.get(Secret, "postgres-orders-credentials");
    return Buffer.from(data?.["userlist.txt"] ?? "", "base64").toString();
  };
  await stage.apply(`${spec}  pooler: {}\n`);
  await stage.until("the pooler knows the application", async () => (await pooler())?.includes("auth_file") ?? false);
  assert.doesNotMatch((await pooler())!, /auth_query/);
  assert.equal(await users(), '"clerk" "p@ss:word"\n');
  await stage.apply(`${spec}  pooler: {}\n  enableSuperuserAccess: true\n`);
  await stage.until("the pooler asks as superuser", async () => (await pooler())?.includes("auth_query") ?? false);
  assert.match(await users(), /^"postgres" /);
  assert.doesNotMatch(await rules(), /reject/);
  await stage.until("the Secret is named", async () => {
    return (await stage.get(Database, "postgres-orders")).status?.secretName === "postgres-orders-credentials";
  });
  await stage.apply(spec);
}

/** Certificates of an authority of the database's own, which are renewed in time, without a restart; or of the user's. */
export const encrypted: Scenario = async (stage) => {
  const days = 86_400_000;
  const secret = { name: "postgres-orders-tls", namespace: stage.namespace };
  await supplyVolumes(stage, "20Gi");
  // As it would be some weeks after its creation: the operator goes on with what is there.
  const early = { secret, hosts: ["postgres-orders"], clock: stage.clock, servingLifetime: 1.8 * days };
  await builtInCertificates(stage.client, early)();
  await stage.start(databaseOperator);
  await stage.apply(`${sample("database")}  tls: {required: true}\n`);
  await running(stage, "postgres-orders");
  const held = async () => (await stage.get(Secret, secret.name)).data ?? {};
  const certificate = async () => new X509Certificate(Buffer.from((await held())["tls.crt"] ?? "", "base64"));
  const authority = Buffer.from((await held())["ca.crt"] ?? "", "base64").toString();
  assert.equal((await stage.get(ConfigMap, "postgres-orders-ca")).data?.["ca.crt"], authority);
  const first = await certificate();
  assert.ok(first.verify(new X509Certificate(authority).publicKey));
  const name = `${stage.namespace}.svc`;
  for (const host of [`postgres-orders-rw.${name}`, `postgres-orders-0.postgres-orders-pods.${name}`]) {
    assert.equal(first.checkHost(host), host.includes("-pods") ? `*.postgres-orders-pods.${name}` : host);
  }
  const { metadata } = await stage.get(Secret, secret.name);
  assert.equal(metadata.ownerReferences?.[0]?.kind, "Database", "it goes with the database");
  const access = (await stage.get(ConfigMap, "postgres-orders-config")).data?.["pg_hba.conf"];
  assert.match(access ?? "", /^hostssl all all all scram-sha-256$/m);
  assert.doesNotMatch(access ?? "", /^host /m);
  const set = await stage.get(StatefulSet, "postgres-orders");
  const volume = set.spec!.template.spec!.volumes!.find((one) => one.name === "tls");
  assert.deepEqual(
    volume?.secret?.items?.map(({ key }) => key),
    ["tls.crt", "tls.key"],
    "servers do not get the key of the authority",
  );

  // A deleted Secret is recreated; one of the user replaces it, and the operator's is deleted.
  await stage.client.delete(Secret, `${stage.namespace}/${secret.name}`);
  await stage.until("there is another", async () => {
    const data = (await stage.find(Secret, secret.name))?.data;
    return data?.["tls.key"] !== undefined && data["ca.crt"] !== Buffer.from(authority).toString("base64");
  });
  await stage.apply(`${sample("database")}  tls: {secretName: mine}\n`);
  await stage.until("the servers use the user's", async () => {
    const { spec } = await stage.get(StatefulSet, "postgres-orders");
    return spec!.template.spec!.volumes!.some((one) => one.secret?.secretName === "mine");
  });
  await stage.until("the other goes", async () => !(await stage.find(Secret, secret.name)));
};

/** A certificate is renewed before it ends, and not long before; the authority that clients trust stays. */
export const renewed: Scenario = async (stage) => {
  const days = 86_400_000;
  const secret = { name: "postgres-orders-tls", namespace: stage.namespace };
  await supplyVolumes(stage, "20Gi");
  await stage.start(databaseOperator);
  await stage.apply(`${sample("database")}  tls: {}\n`);
  await running(stage, "postgres-orders");
  const held = async () => (await stage.get(Secret, secret.name)).data ?? {};
  const certificate = async () => new X509Certificate(Buffer.from((await held())["tls.crt"] ?? "", "base64"));
  const hosts = (await certificate()).subjectAltName!.split(", ").map((name) => name.replace("DNS:", ""));
  /** Writes certificates that were issued this many days ago. */
  const age = async (since: number) => {
    const clock = new VirtualClock({ start: stage.clock.now() - since * days });
    const scratch = { name: `made-${since}-days-ago`, namespace: stage.namespace };
    await builtInCertificates(stage.client, { secret: scratch, hosts, clock })();
    const { data } = await stage.get(Secret, scratch.name);
    await stage.client.patch(Secret, `${stage.namespace}/${secret.name}`, { merge: { data: data! } });
    await stage.settled();
    return data!;
  };
  const { generation } = (await stage.get(StatefulSet, "postgres-orders")).metadata;
  const young = await age(50);
  assert.equal((await held())["tls.crt"], young["tls.crt"]);
  const old = await age(70);
  assert.notEqual((await held())["tls.crt"], old["tls.crt"], "it is renewed weeks before it ends");
  assert.equal((await held())["ca.crt"], old["ca.crt"]);
  assert.ok(Date.parse((await certificate()).validTo) > stage.clock.now() + 80 * days);
  assert.equal((await stage.get(StatefulSet, "postgres-orders")).metadata.generation, generation, "nothing restarts");
};
