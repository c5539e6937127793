import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findMysql, type MysqlTools } from "./mysql-tools.ts";
import { MachineRoom } from "./postgres.ts";
import { databaseWith, PASSWORD, RecoveryRoom } from "./recovery-room.ts";

/** A MySQL server of a room, whose administrator may come from everywhere, as in the official image. */
async function startMysql(room: MachineRoom, tools: MysqlTools) {
  const data = join(room.folder("mysql"), "data");
  const socket = join(room.folder("s"), "s");
  const made = await room.run(["mysqld", ...tools.flags, "--initialize-insecure", `--datadir=${data}`]);
  assert.equal(made.code, 0, made.output);
  const port = await room.freePort();
  const quick = [
    "--mysqlx=OFF",
    "--innodb-flush-log-at-trx-commit=0",
    "--sync-binlog=0",
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
  ];
  const where = [`--datadir=${data}`, `--socket=${socket}`, `--port=${port}`, `--pid-file=${data}/pid`];
  const server = room.start(["mysqld", ...tools.flags, ...quick, ...where]);
  const local = (sql: string, ...flags: string[]) => room.run(["mysql", "-uroot", `-S${socket}`, ...flags, "-e", sql]);
  await room.until("the server is ready", async () => {
    const exitCode = await Promise.race([server.exited, Promise.resolve(undefined)]);
    if (exitCode !== undefined) throw new Error(`the server ended with ${exitCode}:\n${server.output()}`);
    return (await local("select 1")).code === 0;
  });
  const everywhere = `create user root@'%' identified by '${PASSWORD}'; grant all on *.* to root@'%' with grant option`;
  assert.equal((await local(everywhere)).code, 0);
  const sql = async (query: string, user = "root", password = PASSWORD) => {
    const words = ["mysql", "-h127.0.0.1", `-P${port}`, `-u${user}`, "-NB", "-e", query];
    const { code, output } = await room.run(words, { MYSQL_PWD: password });
    assert.equal(code, 0, output);
    return output.trim();
  };
  return { port, sql };
}

const tools = findMysql();
test("a real MySQL: dumps come back whole, or what was there stays", {
  skip: "why" in tools ? tools.why : false,
}, async () => {
  assert.ok("bin" in tools);
  await using room = new MachineRoom(tools);
  const { port, sql } = await startMysql(room, tools);
  const here = new RecoveryRoom(room, databaseWith({ method: "logical" }));
  const env = { ENGINE: "mysql", HOST: "127.0.0.1", PORT: String(port), USERNAME: "root" };
  await sql(
    "create database shop; create table shop.goods (name varchar(50)); insert into shop.goods values ('apple')",
  );
  await sql("create procedure shop.count_goods() select count(*) from shop.goods");
  await sql("create user clerk identified by 'of the clerk'; grant select on shop.* to clerk");

  const first = await here.backup("first", env);
  assert.equal(first.code, 0, first.output);
  assert.equal(Number(first.report["size"]), readFileSync(join(here.backups, "dumps/first/dump.sql")).length);
  const refused = await here.backup("refused", { ...env, PASSWORD: "wrong" });
  assert.match(refused.report["error"] ?? "", /did not give a whole dump/);

  // Later rows, dropped procedures, dropped users, and another password of the administrator.
  await sql("insert into shop.goods values ('pear'); drop procedure shop.count_goods; drop user clerk");
  await sql("alter user root@'%' identified by 'it''s \\\\new'");
  const now = { ...env, PASSWORD: "it's \\new" };
  const asNow = (query: string) => sql(query, "root", "it's \\new");
  const back = await here.restore("restore", here.volume, {}, now);
  assert.equal(back.code, 0, back.output);
  assert.equal(await asNow("select group_concat(name order by name) from shop.goods"), "apple");
  assert.equal(await asNow("call shop.count_goods()"), "1");
  assert.equal(await sql("select name from shop.goods", "clerk", "of the clerk"), "apple", "users are back, at once");

  const undone = await here.restore("undo", here.volume, {}, now);
  assert.equal(undone.code, 0, undone.output);
  assert.equal(await asNow("select group_concat(name order by name) from shop.goods"), "apple,pear");

  // What does not load leaves what was there.
  const file = join(here.backups, "dumps/first/dump.sql");
  room.file(file, readFileSync(file, "utf8").replace("CREATE TABLE `goods`", "CREATE TABLE `goods` oops"));
  const failed = await here.restore("restore", here.volume, {}, now);
  assert.match(failed.report["error"] ?? "", /does not load; what was there is back/);
  assert.equal(await asNow("select group_concat(name order by name) from shop.goods"), "apple,pear");
  await assert.rejects(sql("select 1"), /Access denied/, "the old password has not come back");
});
