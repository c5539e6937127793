import assert from "node:assert/strict";
import { parseLsn } from "@konverge/database-operator";
import type { MachineRoom } from "./postgres.ts";
import { RealServers } from "./real-servers.ts";
import type { Story, StoryOptions } from "./replication-stories.ts";

const ROWS = "select string_agg(text, ' ' order by text) from rows";
const insert = (text: string) => `insert into rows values ('${text}')`;
const sourceAt = (all: RealServers, index: number) => `host=127.0.0.1 port=${all.servers[index]!.port}`;

/** A database with a row, and another one that follows it, each with a standby. The names of their pods are the same. */
async function pair(room: MachineRoom, options: StoryOptions) {
  const source = await RealServers.in(room, { instances: 2, synchronous: 1, ...options });
  await source.startAll();
  await source.query(0, `create table rows (text text); ${insert("one")}`);
  const replica = await RealServers.in(room, { instances: 2, ...options });
  replica.give(source.passwords);
  replica.follow({ follows: sourceAt(source, 0) });
  await replica.startAll();
  await replica.answers(1, ROWS, "one");
  return { source, replica };
}

/** A copy follows, whichever of its servers receives; it is promoted when the source is lost, which then follows it. */
export const followsAndReplaces: Story = async (room, options = {}) => {
  const { source, replica } = await pair(room, options);
  await assert.rejects(replica.query(0, insert("x")), /read-only transaction/);
  const receiver = (await replica.status(0))!;
  assert.deepEqual([receiver.streaming, receiver.confirming, receiver.timeline], [true, "", 1]);
  const states =
    "select string_agg(application_name || ' ' || sync_state, ', ' order by application_name) from pg_stat_replication";
  await source.answers(0, states, "postgres-real-1 quorum, replica_postgres-real-0 async");

  // Another of its servers receives; nothing is copied again.
  replica.follow({ term: 2, primary: replica.nameOf(1), upstream: replica.nameOf(1), fresh: false });
  await replica.becomes(1, "primary");
  await replica.streams(0);
  await source.query(0, insert("two"));
  for (const index of [0, 1]) await replica.answers(index, ROWS, "one two");
  assert.doesNotMatch(replica.servers[1]!.container!.output(), /copies all of[\s\S]*copies all of/);

  // It is promoted while the source still takes a write.
  replica.follow({ term: 3, follows: "" });
  assert.equal((await replica.becomes(1, "primary")).timeline, 2);
  await replica.streams(0);
  await replica.query(1, insert("three"));
  await replica.answers(0, ROWS, "one three two");
  await source.query(0, insert("taken back"));

  // The source follows it: what only the source has is taken back, on its standby, too.
  source.follow({ term: 2, follows: sourceAt(replica, 1), fresh: false });
  await source.becomes(0, "primary");
  for (const index of [0, 1]) await source.answers(index, ROWS, "one three two");
  await assert.rejects(source.query(0, insert("x")), /read-only transaction/);
  await replica.query(1, insert("four"));
  for (const index of [0, 1]) await source.answers(index, ROWS, "four one three two");
  const logs = source.servers.map(({ container }) => container!.output());
  assert.match(logs[0]!, /that is taken back/);
  // pg_rewind saw what had to be taken back, also where the server that it was asked of is a standby.
  for (const log of logs) assert.doesNotMatch(log, /no rewind required/);
};

/** A planned change: the source stops taking writes and says where, the replica is promoted with all of them, and nothing is rewound. */
export const changesPlaces: Story = async (room, options = {}) => {
  const { source, replica } = await pair(room, options);
  await source.query(0, insert("two"));
  source.follow({ term: 2, follows: sourceAt(replica, 0), fresh: false });
  const demoted = await source.becomes(0, "primary");
  assert.ok(demoted.demoted, "it reports where its writes ended");
  await assert.rejects(source.query(0, insert("x")), /read-only transaction/);
  const end = parseLsn(demoted.demoted)!;
  await replica.until("all of it is received", async () => ((await replica.status(0))?.lsn ?? 0n) > end);
  replica.follow({ term: 2, follows: "" });
  assert.equal((await replica.becomes(0, "primary")).timeline, 2);
  assert.equal((await replica.status(0))?.demoted, undefined);
  await replica.streams(1);
  await replica.query(0, insert("three"));
  for (const index of [0, 1]) await source.answers(index, ROWS, "one three two");
  const [log] = source.servers.map(({ container }) => container!.output());
  assert.doesNotMatch(log!, /taken back|copies all of/);

  // And back: the first one leads again.
  replica.follow({ term: 3, follows: sourceAt(source, 0) });
  const back = parseLsn((await replica.becomes(0, "primary")).demoted)!;
  await source.until("all of it is received", async () => ((await source.status(0))?.lsn ?? 0n) > back);
  source.follow({ term: 3, follows: "" });
  assert.equal((await source.becomes(0, "primary")).timeline, 3);
  await source.streams(1);
  await source.query(0, insert("four"));
  for (const index of [0, 1]) await replica.answers(index, ROWS, "four one three two");
};

/** Data of another system are never replaced: their server goes on as it was. */
export const keepsForeignData: Story = async (room, options = {}) => {
  const source = await RealServers.in(room, { instances: 1, ...options });
  await source.startAll();
  const other = await RealServers.in(room, { instances: 1, ...options });
  // With another password, the data are created, not copied from an earlier test.
  other.give({ password: "another" });
  await other.startAll();
  other.give(source.passwords);
  await other.answers(0, "select 1", "1");
  await other.query(0, `create table rows (text text); ${insert("one")}`);
  other.follow({ term: 2, follows: sourceAt(source, 0), fresh: false });
  await other.until("it is foreign", async () => (await other.status(0))?.role === "foreign");
  await other.query(0, insert("two"));
  other.follow({ term: 3, follows: "" });
  await other.becomes(0, "primary");
  await other.answers(0, ROWS, "one two");
};
