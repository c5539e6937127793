import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Secret } from "konverge/kinds";
import { recoveryWindow } from "../src/recovery-window.ts";
import { script } from "../src/scripts.ts";
import type { MachineRoom } from "./postgres.ts";
import { databaseWith, PASSWORD, RecoveryRoom } from "./recovery-room.ts";

const secret = (name: string): Secret => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, data: {} });

/**
 * A database whose backups are in an object store. pgBackRest is real and keeps them in a folder here, as it does in a bucket; with
 * a bucket it is shown on real nodes.
 */
export class StoreRoom extends RecoveryRoom {
  readonly store: string;

  constructor(room: MachineRoom, bin: string, store = room.folder("store")) {
    const objectStore = {
      bucket: "backups",
      region: "us-east-1",
      credentials: { secretName: "keys" },
      encryption: { secretName: "passphrase" },
    };
    super(room, databaseWith({ objectStore, keep: 2 }));
    this.store = store;
    // The server and the tasks find them in one folder here.
    this.secrets = [secret("keys"), secret("passphrase")];
    this.env = {
      PATH: `${bin}:${room.pretend({})["PATH"]}`,
      PGBACKREST_REPO1_TYPE: "posix",
      PGBACKREST_REPO1_PATH: store,
      // A damaged file is fetched three times; half a minute between would show nothing more. Nor would smaller files.
      PGBACKREST_JOB_RETRY_INTERVAL: "0",
      PGBACKREST_COMPRESS_LEVEL: "1",
      PGBACKREST_LOCK_PATH: room.folder("locks"),
      STORE_SECRETS: room.folder("keys"),
      HOST: "127.0.0.1",
    };
    this.usePassphrase("a long secret passphrase");
  }

  /** What server.sh lets the replication role do. */
  override async begin(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    await super.begin(settings);
    const grants = /^grant pg_read_all_settings[\s\S]*?\\gexec$/m.exec(script("server.sh"))?.[0] ?? "";
    const file = join(this.room.folder("sql"), "grants");
    this.room.file(file, grants);
    const words = [
      "psql",
      "-h",
      "127.0.0.1",
      "-p",
      String(this.server.port),
      "-U",
      "postgres",
      "-v",
      "ON_ERROR_STOP=1",
    ];
    const { code, output } = await this.room.run([...words, "-f", file], { PGPASSWORD: PASSWORD });
    assert.equal(code, 0, output);
  }

  usePassphrase(passphrase: string): void {
    const keys = { "access-key-id": "id", "secret-access-key": "key", passphrase };
    for (const [name, text] of Object.entries(keys)) this.room.file(join(this.env["STORE_SECRETS"]!, name), text);
  }

  /** The names of archived segments and histories. */
  archivedNames(): string[] {
    const [id = ""] = readdirSync(join(this.store, "archive/db")).filter((name) => name.includes("-"));
    const folder = join(this.store, "archive/db", id);
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((path) => path.slice(path.lastIndexOf("/") + 1))
      .filter((name) => /[-.]/.test(name))
      .sort();
  }
}

const seconds = (time: string) => Math.floor(Date.parse(time) / 1000);

/** Backups, what they say, what is kept of them, and all that can be restored or cannot. */
export async function storeHolds(room: MachineRoom, bin: string): Promise<void> {
  const here = new StoreRoom(room, bin);
  const nextSecond = async () => {
    const since = seconds(await here.now());
    await room.until("a second has passed", async () => seconds(await here.now()) > since + 1);
  };
  await here.begin();
  const early = await here.now();
  await here.row("one");
  const first = await here.backup("first");
  assert.equal(first.code, 0, first.output);
  const { report } = first;
  assert.match(report["label"] ?? "", /^\d{8}-\d{6}F$/);
  assert.deepEqual(
    { method: report["method"], kept: report["kept"], host: report["host"] },
    { method: "physical", kept: "first", host: "127.0.0.1" },
  );
  assert.ok(Number(report["size"]) > 1_000_000);
  assert.match(report["stopLSN"] ?? "", /^0\/[0-9A-F]+$/);
  assert.ok(report["started"]! < report["stopped"]!);
  const again = await here.backup("first");
  assert.equal(again.report["label"], report["label"], "what was taken is not taken again");
  const bytes = readFileSync(join(here.store, "backup/db", report["label"]!, "backup.manifest"), "latin1");
  assert.ok(bytes.startsWith("Salted__"), "it is encrypted");

  await nextSecond();
  await here.row("two");
  const moment = await here.now();
  const place = await here.sql("select pg_current_wal_insert_lsn()");
  await here.row("three");
  const quiet = await here.now();
  await nextSecond();
  const second = await here.backup("second");
  assert.equal(second.report["kept"], "second,first", second.output);
  await here.archived();
  const segment = (name: string) => join(here.store, "archive/db/15-1/0000000100000000", name);
  const window = recoveryWindow((await here.facts())!);
  assert.deepEqual([window?.first, window?.gaps], [Date.parse(report["stopped"]!), []]);
  assert.ok(window!.last > Date.parse(quiet));
  const missing = here.archivedNames().findLast((name) => /^[0-9A-F]{24}-/.test(name))!;
  renameSync(segment(missing), `${here.store}/aside`);
  const [hole] = recoveryWindow((await here.facts())!)!.gaps;
  assert.equal(hole?.firstSegment, missing.slice(0, 24));
  renameSync(`${here.store}/aside`, segment(missing));
  const volume = dirname(await here.stop());
  const data = join(volume, "pgdata");

  // Before anything is touched.
  const check = (spec: Parameters<RecoveryRoom["restore"]>[2] = {}) => here.restore("check", volume, spec);
  const good = await check({ targetTime: moment });
  assert.equal(good.code, 0, good.output);
  assert.equal(good.report["backup"], "first", "the newest that leads there");
  assert.equal((await check()).report["backup"], "second");
  const refused = async (why: RegExp, spec: Parameters<RecoveryRoom["restore"]>[2] = {}) => {
    const { code, report, output } = await check(spec);
    assert.notEqual(code, 0, `it is refused: ${why}`);
    assert.match(report["error"] ?? output, why);
  };
  await refused(new RegExp(`before the first backup: possible is ${report["stopped"]}`), { targetTime: early });
  await refused(/after the last archived WAL: possible is \d{4}-.* at the latest/, {
    targetTime: "2099-01-01T00:00:00Z",
  });
  await refused(/there is no backup third in s3:\/\/backups\/shop\/postgres-orders/, { from: { backup: "third" } });
  const names = here.archivedNames().filter((name) => /^[0-9A-F]{24}-/.test(name));
  const gap = join(here.store, "archive/db/15-1/0000000100000000", names.at(-2)!);
  renameSync(gap, `${here.store}/aside`);
  await refused(/WAL is missing: no segment/, { from: { backup: "first" } });
  renameSync(`${here.store}/aside`, gap);
  here.usePassphrase("a guess");
  await refused(/s3:\/\/backups\/shop\/postgres-orders cannot be read: \[FormatError\] unable to load info file/);
  here.usePassphrase("a long secret passphrase");

  // By time, by place and to the end; what was there is back when it is undone, and the new history is forgotten.
  const rowsOf = async () => {
    await here.startOn(data);
    const rows = await here.rows();
    await here.stop();
    return rows;
  };
  const restored = async (spec: Parameters<RecoveryRoom["restore"]>[2]) => {
    const { code, output, report } = await here.restore("restore", volume, spec);
    assert.equal(code, 0, output);
    return report;
  };
  const undone = async () => {
    const { code, output } = await here.restore("undo", volume);
    assert.equal(code, 0, output);
    assert.deepEqual(readdirSync(volume), ["pgdata"]);
  };
  const byTime = await restored({ targetTime: moment });
  assert.deepEqual([byTime["backup"], byTime["timeline"]], ["first", "2"]);
  assert.ok(byTime["recoveredTo"]! <= moment);
  assert.deepEqual(await rowsOf(), ["one", "two"]);
  const ofNew = () => here.archivedNames().filter((name) => name.startsWith("00000002"));
  assert.ok(ofNew().includes("00000002.history"), "the new history is archived");
  await undone();
  assert.deepEqual(ofNew(), []);
  assert.deepEqual(await rowsOf(), ["one", "three", "two"]);
  await restored({ targetLSN: place, from: { backup: "first" } });
  assert.deepEqual(await rowsOf(), ["one", "two"]);
  await undone();
  // Nothing was committed after this moment; that the second backup began later proves that nothing is missing.
  await restored({ targetTime: quiet });
  assert.deepEqual(await rowsOf(), ["one", "three", "two"]);
  await undone();

  // What is damaged does not take the place of what was there.
  const manifest = join(here.store, "backup/db", second.report["label"]!, "pg_data/global/pg_control.gz");
  const whole = readFileSync(manifest);
  writeFileSync(manifest, Buffer.concat([whole.subarray(0, 40), Buffer.from("!!"), whole.subarray(42)]));
  const damaged = await here.restore("restore", volume, { from: { backup: "second" } });
  assert.notEqual(damaged.code, 0);
  assert.match(damaged.report["error"] ?? "", /backup second cannot be fetched whole/);
  assert.ok(existsSync(join(data, "PG_VERSION")));
  writeFileSync(manifest, whole);
  await undone();

  // Into an empty volume; then older backups go, and the WAL that only they needed.
  const empty = room.folder("new-volume");
  const copy = await here.restore("restore", empty, { inPlace: false, targetTime: moment });
  assert.equal(copy.code, 0, copy.output);
  await here.startOn(data);
  const oldest = here.archivedNames()[0]!;
  const third = await here.backup("third", { KEEP: "1" });
  assert.equal(third.report["kept"], "third", third.output);
  assert.ok(!here.archivedNames().includes(oldest), "its WAL is gone");
  const folders = readdirSync(join(here.store, "backup/db")).filter((name) => name.endsWith("F"));
  assert.deepEqual(folders, [third.report["label"]]);
  const days = await here.backup("fourth", { KEEP: "1", KEEP_FOR: "86400" });
  assert.equal(days.report["kept"], "fourth,third", days.output);
  await here.stop();

  // Another database does not write there.
  const other = new StoreRoom(room, bin, here.store);
  // Made by the real program: others of this machine have one identifier.
  const otherData = join(room.folder("other"), "pgdata");
  const initdb = join(room.pretend({})["REAL"]!, "initdb");
  assert.equal((await room.run([initdb, "-D", otherData, "-U", "postgres", "--no-sync"])).code, 0);
  const foreign = await other.archive(otherData, join(otherData, "pg_wal/000000010000000000000001"));
  assert.notEqual(foreign.code, 0);
  assert.match(foreign.output, /do not match/);
  rmSync(here.store, { recursive: true });
  mkdirSync(here.store);
  room.own(here.store);
  await refused(/there are no backups in s3:/);
}
