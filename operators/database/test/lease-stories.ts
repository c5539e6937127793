import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kill } from "node:process";
import { RealServers } from "./real-servers.ts";
import type { Story } from "./replication-stories.ts";

const ROWS = "select string_agg(text, ' ' order by text) from rows";
const insert = (text: string) => `insert into rows values ('${text}')`;
/** Seconds: a standby has a third of them to answer, also on a busy machine. */
const FENCE = 9;
/** Seconds since the server of a pod was started. */
const AGE = "select extract(epoch from clock_timestamp() - pg_postmaster_start_time())::int";

const postmaster = (all: RealServers, index: number) =>
  Number(readFileSync(join(all.servers[index]!.volume, "pgdata", "postmaster.pid"), "utf8").split("\n")[0]);
const log = (all: RealServers, index: number) => all.servers[index]!.container!.output();
const stops = (all: RealServers, index: number) =>
  all.until("it stops", async () => !(await all.isUp(index)) && (await all.queried(index))?.role === "fenced");

/** A primary without contact stops at once, and starts when the operator is back; with a standby, it goes on. */
export const fencesItself: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, fenceSeconds: FENCE, ...options });
  await all.startAll();
  await all.query(0, `create table rows (text text); ${insert("one")}`);
  assert.equal((await all.status(0))?.fencing, FENCE);
  const old = (await all.status(0))?.token;
  all.operatorIsAway = true;
  const age = Number(await all.query(0, AGE));
  await all.until("its standby keeps it up", async () => Number(await all.query(0, AGE)) > age + FENCE + 1);
  assert.equal((await all.queried(0))?.role, "primary");
  await all.query(0, insert("two"));
  await all.answers(1, ROWS, "one two");

  const waits = all.query(0, "begin; insert into rows values ('three'); select pg_sleep(600); commit").catch(String);
  await all.end(1);
  await stops(all, 0);
  assert.match(await waits, /terminat|immediate shutdown|closed the connection/);
  assert.match(log(all, 0), /server.sh: had no contact with the operator or a standby for 9 seconds/);
  assert.match(log(all, 0), /received immediate shutdown request/);
  assert.equal(await all.isAlive(0), true, "its container is not restarted");
  for (let query = 0; query < 5; query++)
    assert.equal((await all.queried(0))?.role, "fenced", "it does not start again");

  // A container that restarts has no lease, either; what an earlier one has reported extends none, nor does another term.
  await all.end(0);
  all.start(0);
  await all.until("it waits", async () => (await all.queried(0))?.role === "waiting");
  const { token = "" } = (await all.queried(0, `1.${old}`))!;
  for (const grant of [`1.${old}`, `2.${token}`, "1", "nonsense"]) {
    for (let query = 0; query < 3; query++) assert.equal((await all.queried(0, grant))?.role, "waiting", grant);
  }
  assert.equal(await all.isUp(0), false);
  all.operatorIsAway = false;
  await all.becomes(0, "primary");
  assert.equal(await all.query(0, ROWS), "one two");
  // Nor does a grant that arrives late take back a later one.
  const { run } = all.servers[0]!;
  const lease = () => readFileSync(join(run, "lease.operator"), "utf8");
  await all.status(0);
  const [life, moment] = ((await all.status(0))?.token ?? "").split(".");
  const before = lease();
  await all.queried(0, `1.${life}.${Number(moment) - 100}`);
  assert.equal(lease(), before);
  assert.equal(existsSync(join(run, "fenced")), false);
  all.start(1);
  await all.streams(1);
};

/** One that no longer reacts is killed; a standby that was not granted the lead is not promoted. */
export const isKilled: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, fenceSeconds: FENCE, ...options });
  await all.startAll();
  await all.query(0, `create table rows (text text); ${insert("one")}`);
  await all.answers(1, ROWS, "one");
  const hangs = postmaster(all, 0);
  const session = Number(await all.query(0, "select pid from pg_stat_activity where backend_type = 'walwriter'"));
  all.operatorIsAway = true;
  kill(hangs, "SIGSTOP");
  await all.until("its processes have ended", () => !runs(session) && !runs(hangs));
  await stops(all, 0);

  all.follow({ term: 2, primary: "", upstream: "" });
  await all.becomes(1, "standby");
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) });
  await all.until("it waits for the lease", async () => (await all.queried(1))?.role === "waiting");
  for (let query = 0; query < 5; query++) assert.equal((await all.queried(1))?.role, "waiting");
  assert.equal(await all.query(1, "select pg_is_in_recovery()"), "t");
  all.operatorIsAway = false;
  await all.becomes(1, "primary");
  await all.streams(0);
  await all.query(1, insert("two"));
  await all.answers(0, ROWS, "one two");
};

/** Whether a process runs: one that has ended and was not waited for has no command. */
function runs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

/** A server without standbys goes on; with the first one it has a lease. */
export const needsNoLease: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, fenceSeconds: FENCE, ...options });
  all.operatorIsAway = true;
  all.follow({}, { without: [1] });
  all.start(0);
  await all.becomes(0, "primary");
  await all.until("it goes on", async () => Number(await all.query(0, AGE)) > FENCE + 1);
  assert.equal((await all.queried(0))?.fencing, undefined);
  all.follow({ fresh: false });
  await all.until("it would stop by itself", async () => (await all.queried(0))?.fencing === FENCE);
  assert.equal((await all.queried(0))?.role, "primary");
  await stops(all, 0);
  all.follow({}, { without: [1] });
  await all.becomes(0, "primary");
  await all.until("it needs no lease", async () => (await all.queried(0))?.fencing === undefined);
};
