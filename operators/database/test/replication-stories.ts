import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { kill } from "node:process";
import type { MachineRoom } from "./postgres.ts";
import { RealServers, type RealServersOptions } from "./real-servers.ts";

/** Scripts in place of those that are rendered: for tests of what must fail. */
export type StoryOptions = Pick<RealServersOptions, "scripts">;
/** Something that happens to real servers. It asserts what it expects. */
export type Story = (room: MachineRoom, options?: StoryOptions) => Promise<void>;

const ROWS = "select string_agg(text, ' ' order by text) from rows";
const SLOTS = "select string_agg(slot_name, ' ' order by slot_name) from pg_replication_slots";
const OLDEST = "select min(substr(name, 9)) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'";
const NOTHING = [undefined, undefined, undefined];
const insert = (text: string) => `insert into rows values ('${text}')`;
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** Rows reach the standby; a primary hands over in good order, and nothing is lost. */
export const handsOver: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, ...options });
  await all.startAll();
  await all.query(0, `create table rows (text text); ${insert("one")}`);
  await all.answers(1, ROWS, "one");
  await assert.rejects(all.query(1, insert("x")), /read-only transaction/);
  const [leads, follows] = [await all.status(0), await all.status(1)];
  assert.deepEqual([leads?.timeline, follows?.timeline], [1, 1]);
  assert.equal(follows?.behind, 0);
  assert.deepEqual([leads?.streaming, leads?.behind, leads?.unarchived], NOTHING, "only what applies is reported");
  assert.ok((leads?.size ?? 0) > (leads?.used ?? 0), "the volume is larger than what is used of it");
  assert.equal(leads?.password, digest(all.password));
  await all.answers(0, SLOTS, "member_postgres_real_1");
  await all.answers(0, "select active from pg_replication_slots", "t");
  assert.equal(await all.query(0, "show max_connections"), "40", "the settings are those of the ConfigMap");
  assert.equal(await all.isAlive(0), true);

  const redo = "select redo_lsn from pg_control_checkpoint()";
  const before = await all.query(0, redo);
  all.follow({ prepared: { to: all.nameOf(1), since: 7 } });
  await all.until("a checkpoint is made before the stop", async () => (await all.status(0))?.checkpoint === 7);
  assert.notEqual(await all.query(0, redo), before);
  all.follow({ term: 2, primary: "" });
  const last = await all.becomes(0, "stopped");
  assert.equal(await all.isUp(0), false);
  assert.equal(await all.isAlive(0), true, "a server that is stopped on purpose is not restarted");
  await all.until("the standby has all of it", async () => (await all.status(1))!.lsn! > last.lsn!);
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) });
  assert.equal((await all.becomes(1, "primary")).timeline, 2);
  await all.streams(0);
  await all.query(1, insert("two"));
  await all.answers(0, ROWS, "one two");
  await all.answers(1, SLOTS, "member_postgres_real_0");
  await all.answers(0, SLOTS, "");
  const log = all.servers[0]!.container!.output();
  assert.match(log, /no rewind required/);
  assert.equal(readFileSync(join(all.servers[1]!.volume, "term"), "utf8"), "3\n");
  for (const { container } of all.servers) assert.doesNotMatch(container!.output(), /already exists/);
  assert.doesNotMatch(log, /copies all of|password/i);

  // A removed member keeps no replication slot, which would retain the primary's WAL forever.
  await all.end(0);
  all.follow({}, { only: [1], without: [0] });
  await all.answers(1, SLOTS, "");
};

/** A primary whose pod is deleted stops in good order, and reports where, so that a standby that has all of it can replace it. */
export const endsInOrder: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, ...options });
  await all.startAll();
  await all.query(0, `create table rows (text text); ${insert("one")}`);
  const ends = all.end(0);
  await all.until("it reports that it has stopped", async () => (await all.status(0))?.role === "stopped");
  const last = (await all.status(0))!;
  await all.until("the standby has all of it", async () => (await all.status(1))!.lsn! > last.lsn!);
  await ends;
  assert.deepEqual([last.term, last.timeline], [1, 1]);
  all.follow({ term: 2, primary: "" });
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) });
  await all.becomes(1, "primary");
  await all.answers(1, ROWS, "one");
  all.start(0);
  await all.streams(0);
  assert.match(all.servers[0]!.container!.output(), /no rewind required/);
};

/** A volume that is mounted again with fsGroup: PostgreSQL refuses a data directory that the group may write to. */
export const remounts: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { ...options, instances: 2 });
  await all.startAll();
  await all.query(0, "create table t as select 1 as n");
  for (const index of [0, 1]) {
    await all.end(index);
    all.remount(index);
    all.start(index);
  }
  await all.becomes(0, "primary");
  await all.streams(1);
  await all.answers(1, "select n from t", "1");
  for (const { volume } of all.servers) assert.equal(statSync(join(volume, "pgdata")).mode & 0o777, 0o700);
};

/** A former primary is stopped, and rewinds what only it has. */
export const rewinds: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, ...options });
  await all.startAll();
  await all.query(0, `create table rows (text text); ${insert("common")}`);
  // Enough data that the next checkpoint takes minutes unless it is requested as a fast one.
  await all.query(0, "create table much as select generate_series(1, 200000)");
  await all.answers(1, "select count(*) from much", "200000");
  await all.answers(1, ROWS, "common");

  // Its node is partitioned; the other server detaches.
  all.follow({ term: 2, primary: "", upstream: "" }, { only: [1] });
  const detached = await all.becomes(1, "standby");
  assert.equal(detached.streaming, false);
  await all.query(0, insert("diverged"));
  assert.equal((await all.status(1))!.lsn, detached.lsn);
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) }, { only: [1] });
  await all.becomes(1, "primary");
  await all.query(1, insert("new"));
  assert.equal(await all.query(0, ROWS), "common diverged");

  // Its node hears of it: the server stops at once, and comes back with what the others have.
  all.follow({});
  await all.streams(0);
  await all.answers(0, ROWS, "common new");
  assert.match(all.servers[0]!.container!.output(), /server.sh: is no longer the primary: it stops/);
  assert.match(all.servers[0]!.container!.output(), /received immediate shutdown request/);
  assert.doesNotMatch(all.servers[0]!.container!.output(), /copies all of/);

  // A primary dies without a word and comes back with an old topology: it does not start.
  await all.end(1, "killed");
  all.follow({ term: 4, primary: "", upstream: "" }, { only: [0] });
  await all.becomes(0, "standby");
  all.follow({ term: 5, primary: all.nameOf(0), upstream: all.nameOf(0) }, { only: [0] });
  await all.becomes(0, "primary");
  await all.query(0, insert("newest"));
  all.start(1);
  await all.until("it sees that it was overtaken", async () => (await all.status(1))?.role === "overtaken");
  assert.equal(await all.isUp(1), false);
  all.follow({});
  await all.streams(1);
  await all.answers(1, ROWS, "common new newest");
};

/** With standbys that must confirm, a primary that is alone acknowledges nothing. */
export const confirms: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 3, synchronous: 1, ...options });
  await all.startAll();
  assert.equal((await all.status(0))?.confirming, 'ANY 1 ("postgres-real-1","postgres-real-2")');
  await all.query(0, `create table rows (text text); ${insert("one")}`);
  await all.end(1);
  await all.query(0, insert("two"));
  await all.end(2);
  const alone = room.start(
    ["psql", "-h", "127.0.0.1", "-p", String(all.servers[0]!.port), "-U", "postgres", "-c", insert("three")],
    { PGPASSWORD: all.password },
  );
  await all.answers(0, "select count(*) from pg_stat_activity where wait_event = 'SyncRep'", "1");
  assert.equal(await all.query(0, ROWS), "one two");
  all.start(2);
  assert.equal(await alone.exited, 0, alone.output());
  await all.answers(2, ROWS, "one three two");
  all.follow({}, { synchronous: 0 });
  await all.until("no standby is waited for", async () => (await all.status(0))?.confirming === "");

  // A new term of the same primary: who runs already is a copy of it, and is not copied again.
  all.follow({ term: 2 });
  await all.streams(2);
  assert.match(all.servers[2]!.container!.output(), /no rewind required/);
};

/** The server takes the passwords of the Secret, the next one first, and says which it has. */
export const rotates: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, ...options });
  await all.startAll();
  const first = all.password;
  const has = (password: string) =>
    all.until("the password is set", async () => (await all.status(0))?.password === digest(password));
  await has(first);
  all.give({ "next-password": "it's \\new`$" });
  await has("it's \\new`$");
  assert.equal(await all.query(0, "select 1", "it's \\new`$"), "1");
  await assert.rejects(all.query(0, "select 1", first), /password authentication failed/);
  all.give({ password: "it's \\new`$", "next-password": "" });
  assert.equal(await all.query(0, "select 1"), "1");

  // A Secret that was lost comes back with other passwords, and servers find each other again.
  all.give({ password: "second", "replication-password": "other", "monitor-password": "third" });
  await has("second");
  await all.end(1);
  all.start(1);
  await all.streams(1);
  await all.query(0, "create table rows (text text)");
  await all.query(0, insert("one"));
  await all.answers(1, ROWS, "one");
  const visible = await room.run(
    ["psql", "-h", "127.0.0.1", "-p", String(all.servers[0]!.port), "-U", "monitor", "-d", "postgres"].concat([
      "-XAtc",
      "select count(*) > 0 from pg_stat_replication where sent_lsn is not null",
    ]),
    { PGPASSWORD: "third" },
  );
  assert.equal(visible.output.trim(), "t");
  assert.doesNotMatch(all.servers[0]!.container!.output(), /PASSWORD '|second|it's/);
};

/** An unsuitable volume does not become a server; a broken one is copied again. */
export const isCareful: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, ...options });
  // An empty server without a primary to copy from reports that.
  const first = all.nameOf(0);
  all.follow({ primary: "", upstream: "" }, { only: [1] });
  all.start(1);
  await all.becomes(1, "empty");
  await all.end(1);

  // An empty volume becomes a database only while there is none. What was broken off half-way is not in the way.
  all.follow({ primary: first, upstream: first, fresh: false });
  const half = join(all.servers[0]!.volume, "pgdata.new", "x");
  assert.equal((await room.run(["mkdir", "-p", half])).code, 0);
  all.start(0);
  await all.becomes(0, "empty");
  assert.equal(existsSync(join(all.servers[0]!.volume, "pgdata")), false);
  all.follow({ fresh: true });
  await all.becomes(0, "primary");
  await all.query(0, `create table rows (text text); ${insert("one")}`);

  // It shuts down cleanly on SIGTERM, and starts although another process has the PID of the last server.
  const { volume } = all.servers[0]!;
  const waits = room.start(["sleep", "600"]);
  await all.end(0);
  assert.match((await room.run(["pg_controldata", join(volume, "pgdata")])).output, /cluster state: +shut down\n/);
  room.file(join(volume, "pgdata", "postmaster.pid"), `${waits.pid}\n${join(volume, "pgdata")}\n0\n5432\n\n\n0 0\n`);
  all.follow({ fresh: false });
  all.start(0);
  await all.answers(0, ROWS, "one");

  // Data of another database cannot be rewound: they are replaced.
  const other = join(all.servers[1]!.volume, "pgdata");
  assert.equal((await room.run(["initdb", "-k", "-D", other, "-U", "postgres", "-A", "trust", "-N"])).code, 0);
  all.start(1);
  await all.streams(1);
  await all.answers(1, ROWS, "one");

  // An interrupted copy of a standby is repeated, even after another interruption.
  await all.end(1, "killed");
  room.file(join(all.servers[1]!.volume, "rewinding"), "");
  assert.equal((await room.run(["mkdir", "-p", join(all.servers[1]!.volume, "pgdata.new", "x")])).code, 0);
  all.follow({ term: 2 });
  all.start(1);
  await all.streams(1);
  await all.answers(1, ROWS, "one");
  assert.match(all.servers[1]!.container!.output(), /copies all of postgres-real-0/);
  assert.equal(existsSync(join(all.servers[1]!.volume, "rewinding")), false);

  // An older topology than one that was obeyed is not.
  assert.equal(readFileSync(join(all.servers[1]!.volume, "term"), "utf8"), "2\n");
  await all.end(1);
  all.follow({ term: 1 }, { only: [1] });
  all.start(1);
  await all.until("it waits", async () => (await all.status(1))?.role === "waiting");
  assert.equal(await all.isUp(1), false);
  all.follow({ term: 2 });
  await all.streams(1);

  // Who has to follow a primary that does not answer keeps what it has, and goes on answering.
  await all.end(0);
  all.follow({ term: 3 }, { only: [1] });
  await all.until("it waits", async () => (await all.status(1))?.role === "waiting");
  for (let query = 0; query < 5; query++) assert.equal((await all.status(1))?.role, "waiting", "it goes on waiting");
  assert.equal(await all.query(1, ROWS), "one");
  assert.equal(existsSync(join(all.servers[1]!.volume, "rewinding")), false);
  all.follow({ term: 3 });
  all.start(0);
  await all.streams(1);

  // A server that does not answer is not alive, whatever it is; one that has died is started again.
  const postmaster = (index: number) =>
    Number(readFileSync(join(all.servers[index]!.volume, "pgdata", "postmaster.pid"), "utf8").split("\n")[0]);
  for (const index of [1, 0]) {
    kill(postmaster(index), "SIGSTOP");
    await all.until("its liveness check fails", async () => !(await all.isAlive(index)));
    if (index === 1) kill(postmaster(index), "SIGCONT");
  }
  kill(postmaster(0), "SIGKILL");
  await all.answers(0, ROWS, "one");
};

/** A standby whose WAL the primary no longer has is copied again, and cannot fill the primary's volume. */
export const rebuilds: Story = async (room, options = {}) => {
  const parameters = { wal_keep_size: "0", min_wal_size: "32MB", max_wal_size: "32MB" };
  const all = await RealServers.in(room, { instances: 2, parameters, ...options });
  await all.startAll();
  await all.query(0, `create table rows (text text); ${insert("one")}`);
  const volume = (await all.status(0))!.size! * 1024;
  const kept = Number(await all.query(0, "select pg_size_bytes(current_setting('max_slot_wal_keep_size'))"));
  assert.ok(kept > volume * 0.18 && kept < volume * 0.22, `of ${volume} bytes ${kept} are for standbys that are away`);

  // Said in spec.parameters, it is as said. A standby that is away for longer than that loses its slot.
  await all.end(0);
  all.configure({ ...parameters, max_slot_wal_keep_size: "16MB" });
  all.start(0);
  await all.streams(1);
  await all.end(1);
  const passes = (index: number) =>
    all.query(index, `${insert("x")}; delete from rows where text = 'x'; select pg_switch_wal()`);
  const forget = async (index: number) => {
    for (let count = 0; count < 5; count++) await passes(index);
    await all.query(index, "checkpoint");
  };
  const before = await all.query(0, OLDEST);
  await forget(0);
  assert.ok((await all.query(0, OLDEST)) > before, "the primary does not keep what no standby fetches");
  await all.query(0, insert("two"));
  all.start(1);
  await all.streams(1);
  await all.answers(1, ROWS, "one two");
  assert.match(all.servers[1]!.container!.output(), /was away for so long/);
  await all.answers(0, "select active and wal_status <> 'lost' from pg_replication_slots", "t");

  // A former primary that diverged, and returns when no server has the WAL of that point any more.
  all.follow({ term: 2, primary: "", upstream: "" }, { only: [1] });
  await all.becomes(1, "standby");
  await all.query(0, insert("diverged"));
  await all.end(0, "killed");
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) });
  await all.becomes(1, "primary");
  await forget(1);
  await all.query(1, insert("three"));
  all.start(0);
  await all.streams(0);
  await all.answers(0, ROWS, "one three two");
  assert.match(all.servers[0]!.container!.output(), /copies all of postgres-real-1/);
};

/** A primary reports the state of its archive, and continues once a problem with it is fixed. */
export const archives: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 1, archived: true, ...options });
  all.start(0);
  await all.becomes(0, "primary");
  const segment = () => all.query(0, "select pg_logical_emit_message(false, 'x', 'x'); select pg_switch_wal()");
  await segment();
  await all.until("all is archived", async () => (await all.status(0))?.unarchived === 0);
  const { archiveFailures = -1, archiveLag } = (await all.status(0))!;
  assert.deepEqual([archiveFailures, archiveLag], [0, 0]);
  const wal = join(all.backups, "postgres-real", "wal");
  const [system = ""] = readdirSync(wal);
  assert.ok(readdirSync(join(wal, system)).length > 0, "there is WAL in the archive");

  room.remove(join(wal, system));
  room.file(join(wal, system), "in the way");
  await segment();
  await all.until("it reports that WAL waits", async () => {
    const { unarchived = 0, archiveLag: lag = 0, archiveFailures: failures = 0 } = (await all.status(0)) ?? {};
    return unarchived > 0 && lag > 0 && failures > 0;
  });
  room.remove(join(wal, system));
  await segment();
  await all.until("all is archived", async () => {
    const { unarchived, archiveLag: lag } = (await all.status(0)) ?? {};
    return unarchived === 0 && lag === 0;
  });

  // A server that is alone starts again without asking anybody.
  await all.end(0);
  all.start(0);
  await all.answers(0, "select 1", "1");
};

/** The application has a database that its role owns, and nothing else; its password follows the Secret, also when another leads. */
export const serves: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, {
    instances: 2,
    application: { database: "shop", owner: "clerk" },
    ...options,
  });
  await all.startAll();
  const { password = "", uri } = all.application;
  assert.match(uri ?? "", /^postgresql:\/\/clerk:\w+@postgres-real\.test\.svc:5432\/shop$/);
  const asClerk = (index: number, sql: string, secret = password) =>
    room.query(all.servers[index]!.port, secret, sql, "shop", "clerk");
  await all.until("it can log in", async () => (await asClerk(0, "select 1").catch(() => "")) === "1");
  await asClerk(0, "create table rows (text text); insert into rows values ('one')");
  const owner = "select pg_get_userbyid(datdba) from pg_database where datname = 'shop'";
  assert.equal(await all.query(0, owner), "clerk");
  const rights = "select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls from pg_roles";
  assert.equal(await all.query(0, `${rights} where rolname = 'clerk'`), "f");
  await assert.rejects(asClerk(0, "select pg_read_file('PG_VERSION')"), /permission denied/);

  // A password of the user's own; then another leads.
  const other = `it's "new": \\ and $(odd)`;
  all.giveApplication({ password: other });
  await all.until("the new password is set", async () => {
    return (await asClerk(0, "select 1", other).catch(() => "")) === "1";
  });
  await assert.rejects(asClerk(0, "select 1"), /password authentication failed/);
  assert.equal(await asClerk(0, "select text from rows", other), "one", "what was there stays");
  all.follow({ term: 2, primary: "" });
  await all.becomes(0, "stopped");
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) });
  await all.becomes(1, "primary");
  await asClerk(1, "insert into rows values ('two')", other);
  assert.equal(await asClerk(1, "select count(*) from rows", other), "2");
  for (const { container } of all.servers) assert.doesNotMatch(container!.output(), /already exists|odd/i);
};

/** The superuser is let in through the socket alone, and the application's role as ever. */
export const keepsSuperuserOut: Story = async (room, options = {}) => {
  const application = { database: "shop", owner: "clerk" };
  const all = await RealServers.in(room, { instances: 1, application, superuserAccess: false, ...options });
  all.start(0);
  const { port, run } = all.servers[0]!;
  const asClerk = () => room.query(port, all.application["password"]!, "select 1", "shop", "clerk").catch(() => "");
  await all.until("the application can log in", async () => (await asClerk()) === "1");
  await assert.rejects(all.query(0, "select 1"), /pg_hba\.conf rejects connection for host .* user "postgres"/);
  const local = await room.run(["psql", "-h", run, "-p", String(port), "-U", "postgres", "-XAtqc", "select 1"]);
  assert.equal(local.output.trim(), "1");
};

/** Servers accept TLS only, among themselves too; another certificate is used without a restart. */
export const encrypts: Story = async (room, options = {}) => {
  const certificate = async (name: string) => {
    const folder = room.folder("certificate");
    const files = ["-keyout", join(folder, "key"), "-out", join(folder, "cert")];
    const words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${name}`];
    assert.equal((await room.run([...words, ...files])).code, 0);
    return { cert: readFileSync(join(folder, "cert"), "utf8"), key: readFileSync(join(folder, "key"), "utf8") };
  };
  const all = await RealServers.in(room, { instances: 2, certificate: await certificate("first"), ...options });
  await all.startAll();
  const { port, run } = all.servers[0]!;
  const connect = (mode: string) =>
    room.run(["psql", `host=127.0.0.1 port=${port} user=postgres sslmode=${mode}`, "-XAtqc", "select 1"], {
      PGPASSWORD: all.password,
    });
  assert.match((await connect("disable")).output, /no pg_hba.conf entry .* no encryption/);
  assert.equal((await connect("require")).output.trim(), "1");
  const streams = "select bool_and(ssl) from pg_stat_replication join pg_stat_ssl using (pid)";
  await all.answers(0, streams, "t");
  assert.equal(statSync(join(run, "tls.key")).mode & 0o777, 0o600);

  const shown = async () => {
    const words = ["openssl", "s_client", "-starttls", "postgres", "-connect", `127.0.0.1:${port}`];
    const { output } = await room.run([
      "sh",
      "-c",
      `${words.join(" ")} < /dev/null 2>&1 | openssl x509 -noout -subject`,
    ]);
    return output;
  };
  assert.match(await shown(), /first/);
  const started = await all.query(0, "select pg_postmaster_start_time()");
  all.certify(await certificate("second"));
  await all.until("the new certificate is used", async () => (await shown()).includes("second"));
  assert.equal(await all.query(0, "select pg_postmaster_start_time()"), started, "it was not restarted");
};
