import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Database, DatabaseBackup, DatabaseRestore } from "@konverge/database-operator";
import { Pod } from "@konverge/kinds";
import { mariadb } from "./images/mariadb.ts";
import { postgres } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { DatabaseServers } from "./postgres.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";
import { Writer } from "./writer.ts";

const NAMESPACE = "data";
/** The same server under another tag: to the operator another image, which it rolls out as it does a minor version. */
const rebuilt = { ...postgres, name: "docker.io/library/postgres:15-rebuilt" };

/** Points in time, changes of the image and of the size, and a server of MySQL's kind, on volumes of real nodes. */
describe("database recovery on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;
  let ledger: DatabaseServers;
  /** The moment to go back to: after row 200, before row 201. */
  let moment = "";

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-recovery", images: [postgres, rebuilt, mariadb] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    await cluster.sharedVolume(NAMESPACE, "backups");
    cluster.deploy("database-operator", "operators");
    ledger = new DatabaseServers(cluster.client, NAMESPACE, "postgres-ledger");
  });
  after(async () => await cluster?.stop());

  /** As a user writes it: fields with defaults are left to the server. */
  const create = (name: string, spec: Record<string, unknown>) =>
    cluster.client.create(Database, {
      metadata: { name, namespace: NAMESPACE },
      spec: { version: "15", size: "1Gi", ...spec } as unknown as Database["spec"],
    });
  const change = (name: string, spec: object) =>
    cluster.client.patch(Database, `${NAMESPACE}/${name}`, { merge: { spec } as never });
  const backUp = async (name: string, database: string) => {
    await cluster.client.create(DatabaseBackup, { metadata: { name, namespace: NAMESPACE }, spec: { database } });
    await until(`the backup ${name} completes`, 180, async () => {
      const { status } = await cluster.client.get(DatabaseBackup, `${NAMESPACE}/${name}`);
      assert.notEqual(status?.phase, "Failed", status?.error);
      return status?.phase === "Completed" ? true : undefined;
    });
  };
  const restored = (name: string) =>
    until(`the restore ${name} completes`, 300, async () => {
      const { status } = await cluster.client.get(DatabaseRestore, `${NAMESPACE}/${name}`);
      if (status?.phase === "Completed") return true;
      throw new Error(JSON.stringify(status));
    });
  const digest = "select count(*), coalesce(sum(n), 0), coalesce(max(n), 0) from entries";
  const first200 = "200|20100|200";

  test("a new Database has the rows of a chosen moment", async (t) => {
    await create(ledger.name, { backup: { claim: "backups" } });
    await ledger.running(180);
    await ledger.sql("create table entries (n int); insert into entries select generate_series(1, 100)");
    await backUp("base", ledger.name);
    await ledger.sql("insert into entries select generate_series(101, 200)");
    moment = await ledger.sql(`select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`);
    await ledger.sql("insert into entries select generate_series(201, 300)");
    await ledger.sql("select pg_switch_wal()");
    await until("the WAL is archived", 60, async () =>
      (await ledger.sql("select last_archived_wal is not null and failed_count = 0 from pg_stat_archiver")) === "t"
        ? true
        : undefined,
    );
    const copy = new DatabaseServers(cluster.client, NAMESPACE, "postgres-copy");
    const restore = async () => {
      await create(copy.name, { bootstrap: { from: { database: ledger.name }, targetTime: moment } });
      await copy.running(300);
    };
    t.diagnostic(`restored in ${await timed(restore)} s`);
    assert.equal(await copy.sql(digest), first200);
    assert.equal(await ledger.sql(digest), "300|45150|300");
    await cluster.client.delete(Database, `${NAMESPACE}/${copy.name}`);
  });

  test("the same Database goes back to that moment, and goes on from there", async (t) => {
    const restore = async () => {
      await cluster.client.create(DatabaseRestore, {
        metadata: { name: "back", namespace: NAMESPACE },
        spec: { database: ledger.name, inPlace: true, targetTime: moment },
      });
      await restored("back");
      await ledger.running(180);
    };
    t.diagnostic(`restored in ${await timed(restore)} s`);
    assert.equal(await ledger.sql(digest), first200);
    await ledger.sql("insert into entries values (1000)");
    assert.equal(await ledger.sql(digest), "201|21100|1000");
  });

  test("another image rolls out under load, and nothing that was acknowledged is lost", async (t) => {
    const servers = new DatabaseServers(cluster.client, NAMESPACE, "postgres-rolled");
    await create(servers.name, { instances: 2, synchronous: 1 });
    await servers.running(240);
    const writer = await Writer.start(servers, "writer-rollout", 1);
    const imagesOf = async () => (await servers.pods()).map(({ spec }) => spec?.containers[0]?.image);
    const roll = async () => {
      await change(servers.name, { image: "postgres:15-rebuilt" });
      await until("all servers run the image", 300, async () =>
        (await imagesOf()).every((image) => image === "postgres:15-rebuilt") ? true : undefined,
      );
      await servers.running(240);
    };
    t.diagnostic(`rolled out in ${await timed(roll)} s`);
    await writer.hasWritten(10);
    const { acknowledged, longestGap } = await writer.check();
    t.diagnostic(`${acknowledged} commits acknowledged, none lost; ${longestGap.toFixed(1)} s without a writer`);
    await cluster.client.delete(Database, `${NAMESPACE}/${servers.name}`);
  });

  test("a volume grows while its server runs", async (t) => {
    const pod = `${NAMESPACE}/${ledger.name}-0`;
    const { metadata } = await cluster.client.get(Pod, pod);
    const grow = async () => {
      await change(ledger.name, { size: "2Gi" });
      await until("the volume has grown", 120, async () => {
        const { status } = await ledger.get();
        const isDone = status?.conditions?.some((one) => one.type === "StorageAsRequested" && one.status === "True");
        return status?.storage === "2Gi" && isDone ? true : undefined;
      });
    };
    t.diagnostic(`grown in ${await timed(grow)} s`);
    assert.equal((await cluster.client.get(Pod, pod)).metadata.uid, metadata.uid);
    assert.equal(await ledger.sql(digest), "201|21100|1000");
  });

  test("MariaDB initializes beside a lost+found, and a dump brings back what was deleted", async (t) => {
    const name = "shop";
    // As on the root of a new ext4 file system.
    await cluster.volumeFor(NAMESPACE, `data-${name}-0`, ["lost+found"]);
    await create(name, { engine: "mysql", version: "10.11", storageClass: "shared", backup: { claim: "backups" } });
    const pod = `${NAMESPACE}/${name}-0`;
    const sql = async (statement: string) => {
      const command = ["sh", "-c", 'mysql -h 127.0.0.1 -uroot -p"$MYSQL_ROOT_PASSWORD" -NB -e "$1"', "sql", statement];
      const process = await cluster.client.exec(pod, command, { container: "database" });
      const { code, stdout, stderr } = await process.output();
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    const runs = () =>
      until("it runs", 240, async () => {
        const { status } = await cluster.client.get(Database, `${NAMESPACE}/${name}`);
        if (status?.phase === "Running") return true;
        throw new Error(JSON.stringify(status?.conditions));
      });
    t.diagnostic(`runs after ${await timed(runs)} s`);
    await sql("create database goods; create table goods.fruit (name text); insert into goods.fruit values ('apple')");
    t.diagnostic(`backed up in ${await timed(() => backUp("dump", name))} s`);
    await sql("delete from goods.fruit");
    const restore = async () => {
      await cluster.client.create(DatabaseRestore, {
        metadata: { name: "fruit", namespace: NAMESPACE },
        spec: { database: name, inPlace: true, from: { backup: "dump" } },
      });
      await restored("fruit");
    };
    t.diagnostic(`restored in ${await timed(restore)} s`);
    assert.equal(await sql("select name from goods.fruit"), "apple");
  });
});
