import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { realClock } from "@konverge/core";
import { Database, DatabaseBackup, DatabaseRestore } from "@konverge/database-operator";
import { minio, whyNoMinio } from "./images/minio.ts";
import { postgresWithPgBackRest } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { ObjectStore } from "./object-store.ts";
import { DatabaseServers } from "./postgres.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "data";
const BUCKET = "backups";
const PATH = `${NAMESPACE}/postgres-ledger`;

/** PostgreSQL with pgBackRest, and MinIO as the store of its backups and WAL. */
describe("database backups in an object store on real nodes", { skip: whyNoRealNodes() || whyNoMinio() }, () => {
  let cluster: NodeCluster;
  let store: ObjectStore;
  let ledger: DatabaseServers;
  let objectStore: Awaited<ReturnType<ObjectStore["bucketFor"]>>;
  /** The second to go back to, and the rows that were committed until then. */
  let moment = "";
  let expected = "";

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-object-store", images: [postgresWithPgBackRest, minio] });
    for (const name of [NAMESPACE, "operators", "storage"]) await cluster.restrictedNamespace(name);
    cluster.deploy("database-operator", "operators");
    store = await ObjectStore.start(cluster.client, "storage");
    objectStore = await store.bucketFor(cluster.client, NAMESPACE, BUCKET);
    ledger = new DatabaseServers(cluster.client, NAMESPACE, "postgres-ledger");
  });
  after(async () => await cluster?.stop());

  const image = "example/postgres-pgbackrest:15";
  const create = (name: string, spec: Record<string, unknown>) =>
    cluster.client.create(Database, {
      metadata: { name, namespace: NAMESPACE },
      spec: { version: "15", size: "1Gi", image, ...spec } as unknown as Database["spec"],
    });
  const backUp = async (name: string) => {
    await cluster.client.create(DatabaseBackup, {
      metadata: { name, namespace: NAMESPACE },
      spec: { database: ledger.name },
    });
    return await until(`the backup ${name} completes`, 300, async () => {
      const { status } = await cluster.client.get(DatabaseBackup, `${NAMESPACE}/${name}`);
      assert.notEqual(status?.phase, "Failed", status?.error);
      if (status?.phase === "Completed") return status;
      throw new Error(JSON.stringify(status));
    });
  };
  const archived = async () => {
    const segment = await ledger.sql("select pg_walfile_name(pg_switch_wal())");
    await until(`${segment} is in the store`, 120, async () =>
      (await store.list(BUCKET, `${PATH}/archive/`)).some((name) => name.includes(segment)) ? true : undefined,
    );
  };
  const digest = "select count(*) || ' ' || coalesce(sum(n), 0) || ' ' || coalesce(max(n), 0) from entries";

  test("backups and WAL are in the store, encrypted, and no server mounts storage for them", async (t) => {
    await create(ledger.name, {
      instances: 2,
      synchronous: 1,
      parameters: { track_commit_timestamp: "on" },
      backup: { keep: 2, objectStore },
    });
    t.diagnostic(`runs after ${await timed(() => ledger.running(300))} s`);
    await ledger.sql(
      "create table entries (n serial, text text); insert into entries (text) values ('visible to all')",
    );
    let first: DatabaseBackup["status"];
    const backup = async () => {
      first = await backUp("first");
    };
    t.diagnostic(`backed up in ${await timed(backup)} s`);
    assert.equal(first?.store, `s3://${BUCKET}/${PATH}`);
    await archived();
    const names = await store.list(BUCKET, "");
    assert.ok(names.some((name) => name.startsWith(`${PATH}/backup/db/${first?.label}/pg_data/global/pg_control`)));
    assert.ok(names.some((name) => /\/archive\/db\/15-1\/[0-9A-F]{16}\/[0-9A-F]{24}-/.test(name)));
    for (const name of names) {
      const bytes = await store.read(BUCKET, name);
      assert.ok(bytes.length === 0 || bytes.subarray(0, 8).toString() === "Salted__", `${name} is encrypted`);
      assert.ok(!bytes.includes("visible to all"));
    }
    t.diagnostic(`${names.length} objects, all encrypted`);
    for (const { metadata, spec } of await ledger.pods()) {
      const claims = spec?.volumes?.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
      assert.deepEqual(claims, [`data-${metadata.name}`]);
    }
    assert.equal(new Set((await ledger.pods()).map(({ spec }) => spec?.nodeName)).size, 2, "servers are on both nodes");
  });

  test("a new Database has exactly the rows of a second chosen at random", async (t) => {
    // A row every 50 ms for 12 s, each in a transaction.
    await ledger.sql(
      "do $$ begin for i in 1..240 loop insert into entries (text) values (i); commit; perform pg_sleep(0.05); end loop; end $$",
    );
    const utc = (what: string) => `to_char((${what}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
    const committed = "pg_xact_commit_timestamp(xmin)";
    const offset = 1 + realClock().random.below(10);
    const target = `date_trunc('second', min(${committed})) + interval '${offset} s'`;
    moment = await ledger.sql(`select ${utc(target)} from entries where n > 1`);
    expected = await ledger.sql(`${digest} where ${committed} <= '${moment}' or n = 1`);
    t.diagnostic(`the second is ${moment}, ${offset} s after the first row: ${expected} (rows, sum, last)`);
    await archived();
    const copy = new DatabaseServers(cluster.client, NAMESPACE, "postgres-copy");
    const restore = async () => {
      await create(copy.name, { bootstrap: { from: { database: ledger.name }, targetTime: moment } });
      await copy.running(300);
    };
    t.diagnostic(`restored in ${await timed(restore)} s`);
    assert.equal(await copy.sql(digest), expected);
    assert.notEqual(await ledger.sql(digest), expected);
    await cluster.client.delete(Database, `${NAMESPACE}/${copy.name}`);
  });

  test("the same Database goes back to that second, and its new history is archived", async (t) => {
    const restore = async () => {
      await cluster.client.create(DatabaseRestore, {
        metadata: { name: "back", namespace: NAMESPACE },
        spec: { database: ledger.name, inPlace: true, targetTime: moment },
      });
      await until("the restore completes", 300, async () => {
        const { status } = await cluster.client.get(DatabaseRestore, `${NAMESPACE}/back`);
        assert.notEqual(status?.phase, "Failed", status?.error);
        if (status?.phase === "Completed") return true;
        throw new Error(JSON.stringify(status));
      });
      await ledger.running(300);
    };
    t.diagnostic(`restored in ${await timed(restore)} s`);
    assert.equal(await ledger.sql(digest), expected);
    await archived();
    const names = await store.list(BUCKET, `${PATH}/archive/`);
    assert.ok(names.some((name) => name.endsWith("/00000002.history")));
  });

  test("after a switchover the new primary is backed up, and what is no longer kept is removed", async (t) => {
    const labels = async () => {
      const names = await store.list(BUCKET, `${PATH}/backup/db/`);
      return new Set(names.flatMap((name) => /\/(\d{8}-\d{6}F)\//.exec(name)?.[1] ?? []));
    };
    const segments = async () =>
      (await store.list(BUCKET, `${PATH}/archive/`))
        .flatMap((name) => /\/([0-9A-F]{24})-/.exec(name)?.[1] ?? [])
        .sort();
    const [oldest = ""] = await segments();
    const standby = (await ledger.pods())
      .map(({ metadata }) => metadata.name)
      .find((name) => name !== `${ledger.name}-0`);
    const primary = await ledger.primary();
    const next = primary === standby ? `${ledger.name}-0` : standby!;
    await ledger.switchOver(next);
    await until(`${next} leads`, 180, async () => ((await ledger.primary()) === next ? true : undefined));
    await ledger.running(300);
    const second = await backUp("second");
    assert.match(second.server ?? "", new RegExp(`^${next}\\.`));
    assert.equal((await labels()).size, 2);
    await cluster.client.patch(Database, `${NAMESPACE}/${ledger.name}`, {
      merge: { spec: { backup: { keep: 1 } } } as never,
    });
    const third = await backUp("third");
    assert.deepEqual([...(await labels())], [third.label]);
    assert.ok(!(await segments()).includes(oldest), "its WAL is gone");
    for (const name of ["first", "second"]) {
      await until(`${name} has expired`, 60, async () => {
        const { status } = await cluster.client.get(DatabaseBackup, `${NAMESPACE}/${name}`);
        return status?.phase === "Expired" ? true : undefined;
      });
    }
    t.diagnostic(`${(await segments()).length} segments are left`);
  });
});
