import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RecoveryRoom } from "./recovery-room.ts";

/** What is dumped: databases with rows, and a role. */
async function stock(here: RecoveryRoom): Promise<void> {
  await here.sql("drop database if exists shop with (force)");
  await here.sql("create database shop");
  await here.sql("create table goods (name text)", "shop");
  await here.sql("insert into goods values ('apple'), ('DROP DATABASE postgres;')", "shop");
  await here.sql("drop table if exists rows");
  await here.row("kept");
  await here.sql("do $$begin create role clerk login; exception when duplicate_object then null; end$$");
  await here.sql("alter role clerk password 'of the clerk'");
}

/** What taking dumps promises, of a database whose backups are logical. The room has a running server; the volume is empty. */
export async function dumpingHolds(here: RecoveryRoom): Promise<void> {
  const { room } = here;
  const dumps = join(here.backups, "dumps");
  await stock(here);
  // Files that a killed pod has left are no obstacle.
  mkdirSync(join(dumps, ".first", "dump.sql"), { recursive: true });
  room.own(here.volume);
  const synced = join(room.folder("log"), "synced");
  here.env = room.pretend({ sync: `echo "$@" >> ${synced}` });
  const before = (await here.now()).slice(0, 19);
  const first = await here.backup("first");
  here.env = {};
  assert.equal(first.code, 0, first.output);
  assert.match(readFileSync(synced, "utf8"), /\.first\/dump\.sql .*\.first\/info/);
  assert.equal(first.report["method"], "logical");
  assert.ok(first.report["started"]!.slice(0, 19) >= before);
  assert.ok(first.report["stopped"]! >= first.report["started"]!);
  assert.equal(Number(first.report["size"]), readFileSync(join(dumps, "first/dump.sql")).length);
  assert.equal(first.report["host"], "127.0.0.1");
  assert.equal(first.report["kept"], "first");
  assert.deepEqual(readdirSync(dumps), ["first"]);
  const again = await here.backup("first", { HOST: "127.0.0.9" });
  assert.equal(again.code, 0, "a second try goes on after what the first has done");

  // Half a dump is none.
  here.env = room.pretend({ pg_dumpall: '"$REAL/pg_dumpall" "$@" | head -n 20' });
  const half = await here.backup("half");
  assert.notEqual(half.code, 0);
  assert.match(half.report["error"]!, /did not give a whole dump/);
  assert.match(half.output, /backup-dump\.sh: .*did not give a whole dump/, "the log has it, too");
  here.env = room.pretend({ sync: "exit 1" });
  assert.notEqual((await here.backup("lost")).code, 0);
  assert.ok(!existsSync(join(dumps, "lost")), "what may be lost in a power cut has no name");
  assert.ok(!existsSync(join(dumps, "half")));
  here.env = room.pretend({ find: "exit 1" });
  assert.match((await here.backup("first")).report["error"] ?? "", /could not be removed/);
  here.env = {};
}

/** What bringing dumps back promises, likewise. */
export async function loadingHolds(here: RecoveryRoom): Promise<void> {
  const { room } = here;
  await stock(here);
  const first = await here.backup("first");
  assert.equal(first.code, 0, first.output);
  const dumps = join(here.backups, "dumps");
  const older = join(dumps, "the-last-by-name", "info");
  cpSync(join(dumps, "first"), dirname(older), { recursive: true });
  writeFileSync(older, readFileSync(older, "utf8").replace(/^stopped=.*$/m, "stopped=2001-01-01T00:00:00Z"));
  room.own(here.volume);

  // While a client is connected; rows that look like statements are rows.
  await here.sql("insert into goods values ('pear')", "shop");
  await here.row("too late");
  await here.sql("alter role postgres password 'of the administrator'");
  const password = () => here.sql("select rolpassword from pg_authid where rolname = 'postgres'");
  const kept = await password();
  const idle = room.start(
    [
      "psql",
      "-h",
      "127.0.0.1",
      "-p",
      String(here.server.port),
      "-U",
      "postgres",
      "-d",
      "shop",
      "-c",
      "select pg_sleep(600)",
    ],
    { PGPASSWORD: "of the administrator" },
  );
  const watching = room.start(
    [
      "psql",
      "-h",
      "127.0.0.1",
      "-p",
      String(here.server.port),
      "-U",
      "postgres",
      "-d",
      "postgres",
      "-c",
      "select pg_sleep(600)",
    ],
    { PGPASSWORD: "of the administrator" },
  );
  await room.until(
    "somebody is connected",
    async () =>
      (await here.sql(
        "select count(*) from pg_stat_activity where query like '%pg_sleep(600)' and pid <> pg_backend_pid()",
      )) === "2",
  );
  assert.equal((await here.restore("check", here.volume)).report["backup"], "first", "the newest");
  const synced = join(room.folder("log"), "synced");
  here.env = room.pretend({ sync: `echo "$@" >> ${synced}` });
  const back = await here.restore("restore", here.volume);
  here.env = {};
  assert.equal(back.code, 0, back.output);
  assert.match(readFileSync(synced, "utf8"), /before-back\.sql\.partial/);
  assert.notEqual(await idle.exited, 0);
  assert.notEqual(await watching.exited, 0);
  assert.equal(
    await here.sql("select string_agg(name, ',' order by name) from goods", "shop"),
    "DROP DATABASE postgres;,apple",
  );
  assert.deepEqual(await here.rows(), ["kept"]);
  assert.equal(await password(), kept, "the operator's own passwords are not those of the dump");

  // What was there before is kept until the end, also by an undo that fails, and comes back when it is undone.
  here.env = room.pretend({ psql: "exit 1" });
  assert.notEqual((await here.restore("undo", here.volume)).code, 0);
  here.env = {};
  assert.ok(existsSync(join(here.backups, "before-back.sql")));
  const undone = await here.restore("undo", here.volume);
  assert.equal(undone.code, 0, undone.output);
  assert.deepEqual(await here.rows(), ["kept", "too late"]);
  assert.ok(!existsSync(join(here.backups, "before-back.sql")));
}

/** What protects a server from dumps that are of no use, likewise. */
export async function badDumpsHold(here: RecoveryRoom): Promise<void> {
  const { room } = here;
  await stock(here);
  const first = await here.backup("first");
  assert.equal(first.code, 0, first.output);
  await here.sql("insert into goods values ('pear')", "shop");
  await here.row("too late");

  // A dump that does not load leaves what was there.
  const bad = join(here.backups, "dumps/first/dump.sql");
  const text = readFileSync(bad, "utf8");
  writeFileSync(bad, text.replace("CREATE TABLE public.goods", "CREATE TABLE nowhere.goods"));
  const failed = await here.restore("restore", here.volume);
  assert.notEqual(failed.code, 0);
  assert.match(failed.report["error"]!, /first does not load; what was there is back/);
  assert.match(failed.output, /restore-dump\.sh: .* does not load; what was there is back/, "the log has it, too");
  assert.deepEqual(await here.rows(), ["kept", "too late"]);
  assert.equal(await here.sql("select count(*) from goods", "shop"), "3");
  assert.equal((await here.restore("finish", here.volume)).code, 0);
  assert.deepEqual(readdirSync(here.backups), ["dumps"]);

  // A damaged or missing dump is reported before anything is changed.
  writeFileSync(bad, text.slice(0, -200));
  assert.match((await here.restore("check", here.volume)).report["error"] ?? "", /is damaged/);
  assert.match(
    (await here.restore("check", here.volume, { from: { backup: "other" } })).report["error"] ?? "",
    /there is no dump other/,
  );
  here.env = room.pretend({ pg_dumpall: "exit 0" });
  writeFileSync(bad, text);
  assert.match((await here.restore("restore", here.volume)).report["error"] ?? "", /could not be dumped first/);
  here.env = {};
  here.clear();
  assert.match((await here.restore("check", here.volume)).report["error"] ?? "", /there are no dumps/);
}

/** The same commands for a MySQL server, which programs that only pretend take down. */
export async function mysqlDumpsHold(here: RecoveryRoom): Promise<void> {
  const { room } = here;
  const said = join(room.folder("log"), "said");
  const logged = `printf '%s\\n' "$0 $* $MYSQL_PWD" | sed 's#.*/##' >> ${said}`;
  here.env = room.pretend({
    mysqldump: `${logged}\necho 'a row'; echo '-- Dump completed on'`,
    mysql: `${logged}\ncat >> ${said}`,
  });
  const dump = await here.backup("night", { ENGINE: "mysql", HOST: "db", PORT: "3306", USERNAME: "root" });
  assert.equal(dump.code, 0, dump.output);
  const back = await here.restore(
    "restore",
    here.volume,
    {},
    { ENGINE: "mysql", HOST: "db", PORT: "3306", USERNAME: "root", PASSWORD: "it's \\new" },
  );
  assert.equal(back.code, 0, back.output);
  const lines = readFileSync(said, "utf8").trim().split("\n");
  assert.match(
    lines[0]!,
    /^mysqldump -h db -P 3306 -u root --all-databases --single-transaction .* of the administrator$/,
  );
  assert.match(lines[2]!, /^mysql -h db -P 3306 -u root it's \\new$/);
  assert.deepEqual(lines.slice(3), [
    "a row",
    "-- Dump completed on",
    "flush privileges;",
    "alter user if exists 'root'@'%' identified by 'it\\'s \\\\new', 'root'@'localhost' identified by 'it\\'s \\\\new';",
  ]);
  here.env = {};
  here.clear();
}
