import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RealServers } from "./real-servers.ts";
import type { Story } from "./replication-stories.ts";

const STARTED = "select pg_postmaster_start_time()";

/** What servers need in total, in one line. */
const limits =
  "select string_agg(setting, ' ' order by name) from pg_settings where name in ('max_connections', 'max_prepared_transactions')";

/**
 * A primary's limits are lowered and raised. Its standby restarts at any moment and replays its WAL; commits, which wait for the
 * standby, do not hang; in the end all have what is requested.
 */
export const lowersLimits: Story = async (room, options = {}) => {
  const parameters = { max_connections: "40", max_prepared_transactions: "9" };
  const all = await RealServers.in(room, { instances: 2, synchronous: 1, parameters, ...options });
  const pending = async (index: number, expected: readonly string[]) => {
    await all.until(`${expected.join(" ") || "nothing"} waits for a restart of server ${index}`, async () => {
      const report = await all.status(index);
      const isNew = report?.configuration === all.configuration;
      return isNew && report?.pendingRestart?.join(" ") === expected.join(" ");
    });
  };
  await all.startAll();
  await all.query(0, "create table rows (text text)");
  all.configure({ ...parameters, max_connections: "30" });
  await pending(0, ["max_connections"]);
  await pending(1, []);
  await all.end(1);
  all.start(1);
  await all.streams(1);
  await all.answers(1, limits, "40 9");
  await all.query(0, "insert into rows values ('the standby confirms it')");
  await all.restart(0, "primary");
  await all.answers(0, limits, "30 9");
  await pending(0, []);
  await pending(1, ["max_connections"]);
  await all.restart(1, "standby");
  await all.answers(1, limits, "30 9");
  await pending(1, []);

  // One up, one down: a standby gets the one first, and the other when its primary has it.
  all.configure({ max_connections: "50", max_prepared_transactions: "3" });
  await pending(1, ["max_connections"]);
  await all.restart(1, "standby");
  await all.answers(1, limits, "50 9");
  await pending(0, ["max_connections", "max_prepared_transactions"]);
  await all.restart(0, "primary");
  await all.answers(0, limits, "50 3");
  await pending(1, ["max_prepared_transactions"]);
  await all.query(0, "insert into rows values ('the standby replays it')");
  await all.answers(1, "select count(*) from rows", "2");
  await all.restart(1, "standby");
  await all.answers(1, limits, "50 3");

  // A standby that had more than requested is promoted: it says what it has to restart for.
  all.configure({ max_connections: "20", max_prepared_transactions: "3" });
  await pending(1, []);
  all.follow({ term: 2, primary: "" });
  await all.becomes(0, "stopped");
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) });
  await all.becomes(1, "primary");
  await pending(1, ["max_connections"]);
  await all.streams(0);
  await all.answers(0, limits, "50 3");
};

/** A parameter that a reload takes is taken without a restart; one that no server accepts is reported, and changes nothing. */
export const reloads: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 1, ...options });
  all.start(0);
  await all.becomes(0, "primary");
  const started = await all.query(0, STARTED);
  assert.deepEqual((await all.status(0))?.rejected, []);
  all.configure({ work_mem: "5MB", shared_buffers: "20MB" });
  await all.answers(0, "show work_mem", "5MB");
  const { pendingRestart, rejected } = (await all.status(0))!;
  assert.deepEqual([pendingRestart, rejected], [["shared_buffers"], []]);
  for (const [name, value] of [
    ["no_such_parameter", "1"],
    ["work_mem", "much"],
    ["shared_buffers", "much"],
  ] as const) {
    all.configure({ work_mem: "5MB", [name]: value });
    await all.until(`${name} is reported`, async () => (await all.status(0))?.rejected?.join() === name);
  }
  assert.equal(await all.query(0, "show work_mem"), "5MB");
  all.configure({ work_mem: "6MB" });
  await all.answers(0, "show work_mem", "6MB");
  const report = (await all.status(0))!;
  assert.deepEqual([report.pendingRestart, report.rejected], [[], []]);

  // Rules of access are reloaded, too.
  const { config } = all.servers[0]!;
  const rules = readFileSync(join(config, "pg_hba.conf"), "utf8");
  room.file(join(config, "pg_hba.conf"), `host all postgres all reject\n${rules}`);
  await all.until("the superuser is refused", async () => (await all.query(0, "select 1").catch(() => "")) === "");
  room.file(join(config, "pg_hba.conf"), rules);
  await all.answers(0, STARTED, started);
  all.follow({ restart: { name: all.nameOf(0), since: 5 } });
  await all.until("it starts again", async () => (await all.query(0, STARTED).catch(() => started)) !== started);
  assert.equal((await all.becomes(0, "primary")).restarted, 5);
  const again = await all.query(0, STARTED);
  all.follow({ term: 2 });
  await all.becomes(0, "primary");
  assert.equal(await all.query(0, STARTED), again, "it restarts once for each number");
};
