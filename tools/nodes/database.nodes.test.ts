import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { Database, DatabaseBackup } from "@konverge/database-operator";
import { Node, Pod, Secret } from "@konverge/kinds";
import { pgbouncer, postgres } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { DatabaseServers } from "./postgres.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { now, timed, until } from "./waiting.ts";
import { Writer } from "./writer.ts";

const NAMESPACE = "data";
const NAME = "postgres-orders";

/** The database operator from its own image, and PostgreSQL 15 in pods of real nodes. Each scenario goes on where the last ended. */
describe("database on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;
  let servers: DatabaseServers;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-database", images: [postgres, pgbouncer] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    await cluster.sharedVolume(NAMESPACE, "backups");
    servers = new DatabaseServers(cluster.client, NAMESPACE, NAME);
  });
  after(async () => await cluster?.stop());

  test("the operator's own image runs as `konverge deploy` deploys it", async (t) => {
    note(t, "deployed in", await timed(async () => cluster.deploy("database-operator", "operators")));
  });

  test("three servers initialize, with fsync and one synchronous standby", async (t) => {
    await cluster.client.create(Database, {
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: spec({
        version: "15",
        size: "1Gi",
        instances: 3,
        synchronous: 1,
        failover: { delay: "5s" },
        pooler: { instances: 1 },
        backup: { claim: "backups" },
      }),
    });
    note(t, "all servers run after", await timed(() => servers.running(180)));
    assert.equal(await servers.sql("show fsync"), "on");
    assert.equal(await servers.sql("select count(*) from pg_stat_replication where sync_state = 'quorum'"), "2");
  });

  test("every pod restarts on its volume with its data", async (t) => {
    await servers.sql("create table kept (n int); insert into kept select generate_series(1, 1000)");
    for (const { metadata } of await servers.pods()) {
      const restart = async () => {
        await cluster.client.delete(Pod, `${NAMESPACE}/${metadata.name}`);
        await until(`${metadata.name} is replaced`, 90, async () => {
          const { metadata: fresh, status } = await servers.pod(metadata.name!);
          const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
          return fresh.uid !== metadata.uid && isReady ? true : undefined;
        });
        await servers.running(120);
      };
      note(t, `${metadata.name} restarted in`, await timed(restart));
    }
    for (const { metadata } of await servers.pods()) {
      const rows = await until(`${metadata.name} has the rows`, 30, async () =>
        (await servers.sql("select count(*) from kept", metadata.name)) === "1000" ? "1000" : undefined,
      );
      assert.equal(rows, "1000");
    }
  });

  test("a commit waits for a standby", async () => {
    const at = await servers.sql("insert into kept values (1001) returning pg_current_wal_insert_lsn()");
    const flushed = await servers.sql(
      `select count(*) > 0 from pg_stat_replication where sync_state = 'quorum' and flush_lsn >= '${at}'`,
    );
    assert.equal(flushed, "t");
    const confirming = (await servers.get()).status?.confirming;
    assert.match(confirming ?? "", /^ANY 1 \(/);
  });

  test("a primary whose container is killed under load recovers in place, with all that was acknowledged", async (t) => {
    const writer = await Writer.start(servers, "writer-container", 1);
    await cluster.killContainer(`${NAMESPACE}/${await servers.primary()}`, "database");
    await writer.hasWritten(20);
    await report(t, writer);
    await servers.running(120);
  });

  test("a primary whose container is killed again and again fails over, with all that was acknowledged", async (t) => {
    const writer = await Writer.start(servers, "writer-failover", 50_000);
    const old = await servers.primary();
    await until("another leads", 180, async () => {
      const { status } = await servers.get();
      if (status?.currentPrimary && status.currentPrimary !== old) return true;
      await cluster.killContainer(`${NAMESPACE}/${old}`, "database").catch(() => {});
      return undefined;
    });
    await writer.hasWritten(20);
    await report(t, writer);
    note(t, "all servers run again after", await timed(() => servers.running(240)));
  });

  test("a switchover under load loses nothing that was acknowledged", async (t) => {
    const writer = await Writer.start(servers, "writer-switchover", 100_000);
    const next = (await servers.pods()).map(({ metadata }) => metadata.name!).find(isNot(await servers.primary()))!;
    await servers.switchOver(next);
    await until(`${next} leads`, 90, async () => ((await servers.primary()) === next ? true : undefined));
    await writer.hasWritten(20);
    await report(t, writer);
    await servers.running(120);
  });

  test("a password rotates while clients are connected, and the pooler takes the new one", async (t) => {
    const key = `${NAMESPACE}/${NAME}-credentials`;
    const passwordNow = async () => (await cluster.client.get(Secret, key)).data?.["password"];
    const before = await passwordNow();
    const open = servers.sql("select pg_sleep(8), 'still connected'");
    await cluster.client.patch(Database, `${NAMESPACE}/${NAME}`, {
      merge: { metadata: { annotations: { "databases.example.com/rotate": "now" } } },
    });
    const rotate = async () =>
      await until("the password is new", 120, async () => ((await passwordNow()) !== before ? true : undefined));
    note(t, "rotated in", await timed(rotate));
    assert.match(await open, /still connected/);
    const password = Buffer.from((await passwordNow())!, "base64").toString();
    for (const host of [NAME, `${NAME}-pooler`]) {
      const url = `postgresql://postgres:${password}@${host}.${NAMESPACE}.svc:5432/postgres`;
      await until(`${host} accepts the new password`, 120, async () =>
        (await servers.psql(url, "select 1")) === "1" ? true : undefined,
      );
    }
  });

  test("a backup is restored into a new Database with all rows", async (t) => {
    const copy = new DatabaseServers(cluster.client, NAMESPACE, "postgres-copy");
    await cluster.client.create(DatabaseBackup, {
      metadata: { name: "first", namespace: NAMESPACE },
      spec: { database: NAME },
    });
    const backUp = async () =>
      await until("the backup completes", 180, async () => {
        const { status } = await cluster.client.get(DatabaseBackup, `${NAMESPACE}/first`);
        assert.notEqual(status?.phase, "Failed", status?.error);
        return status?.phase === "Completed" ? true : undefined;
      });
    note(t, "backed up in", await timed(backUp));
    await cluster.client.create(Database, {
      metadata: { name: copy.name, namespace: NAMESPACE },
      spec: spec({ version: "15", size: "1Gi", bootstrap: { from: { database: NAME, backup: "first" } } }),
    });
    note(t, "restored in", await timed(() => copy.running(240)));
    const digest = "select count(*), sum(n) from kept";
    assert.equal(await copy.sql(digest), await servers.sql(digest));
    const rows = await servers.sql("select count(*) from written");
    assert.equal(await copy.sql("select count(*) from written"), rows);
    await cluster.client.delete(Database, `${NAMESPACE}/${copy.name}`);
  });

  test("kill -9 of the primary's node loses nothing that was acknowledged, and the node comes back", async (t) => {
    const alone = aloneOnItsNode(await servers.pods());
    await cluster.keepAway("operators", alone.node);
    if ((await servers.primary()) !== alone.pod) {
      await servers.switchOver(alone.pod);
      await until(`${alone.pod} leads`, 90, async () => ((await servers.primary()) === alone.pod ? true : undefined));
      await servers.running(120);
    }
    const writer = await Writer.start(servers, "writer-node", 200_000, cluster.nodeNames().find(isNot(alone.node)));
    const killedAt = now();
    await cluster.killNode(alone.node);
    await writer.hasWritten(20);
    await report(t, writer);
    const { status } = await cluster.client.get(Node, alone.node);
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    assert.notEqual(ready?.status, "True");
    const noticed = (Date.parse(ready?.lastTransitionTime ?? "") - killedAt) / 1000;
    t.diagnostic(`of these, ${noticed.toFixed(0)} s until the cluster noticed that the node is gone`);
    await cluster.startNode(alone.node);
    note(t, "all servers run again, seconds after its node started:", await timed(() => servers.running(240)));
  });
});

async function report(t: TestContext, writer: Writer): Promise<void> {
  const { acknowledged, longestGap } = await writer.check();
  t.diagnostic(`${acknowledged} commits acknowledged, none lost; ${longestGap.toFixed(1)} s without a writer`);
}

/** Of three servers on two nodes, the one that shares its node with no other. */
function aloneOnItsNode(pods: readonly Pod[]): { pod: string; node: string } {
  const found = pods.find(({ metadata, spec }) =>
    pods.every((other) => other.metadata.name === metadata.name || other.spec?.nodeName !== spec?.nodeName),
  );
  assert.ok(found?.spec?.nodeName, "one server is alone on its node");
  return { pod: found.metadata.name!, node: found.spec.nodeName };
}

/** As a user writes it: fields with defaults are left to the server. */
const spec = (written: Record<string, unknown>) => written as unknown as Database["spec"];

const isNot = (name: string) => (other: string) => other !== name;

function note(t: TestContext, what: string, seconds: string): void {
  t.diagnostic(`${what} ${seconds} s`);
}
