import assert from "node:assert/strict";
import { RealServers } from "./real-servers.ts";
import type { Story } from "./replication-stories.ts";

const ROWS = "select string_agg(text, ' ' order by text) from rows";

/** Fenced servers stop in order, stay alive as pods, and go on where they were. */
export const halts: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, ...options });
  await all.startAll();
  await all.query(0, "create table rows (text text); insert into rows values ('one')");
  all.follow({}, { fenced: [1] });
  await all.becomes(1, "halted");
  assert.equal(await all.isUp(1), false);
  assert.equal(await all.isAlive(1), true, "its container is not restarted");
  await all.query(0, "insert into rows values ('two')");
  all.follow({}, { fenced: [0, 1] });
  const halted = await all.becomes(0, "halted");
  assert.ok(halted.lsn !== undefined, "it has stopped in order");
  assert.equal(await all.isUp(0), false);
  assert.match(all.servers[0]!.container!.output(), /database system is shut down/);
  // A pod that starts while it is fenced does not start a server.
  await all.end(0);
  all.start(0);
  await all.becomes(0, "halted");
  assert.equal(await all.isUp(0), false);
  all.follow({});
  await all.becomes(0, "primary");
  await all.streams(1);
  await all.answers(1, ROWS, "one two");
  assert.equal(all.servers[1]!.container!.output().match(/copies all of/g)?.length, 1, "only in the beginning");
};

/** All servers end together, as in hibernation, and go on in the same term with all rows. */
export const sleepsAndWakes: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 3, ...options });
  await all.startAll();
  await all.query(0, "create table rows (text text); insert into rows values ('one')");
  await Promise.all([0, 1, 2].map((index) => all.end(index)));
  for (const index of [0, 1, 2]) all.start(index);
  assert.equal((await all.becomes(0, "primary")).timeline, 1);
  for (const index of [1, 2]) await all.streams(index);
  await all.query(0, "insert into rows values ('two')");
  for (const index of [1, 2]) await all.answers(index, ROWS, "one two");
  for (const { container } of all.servers) assert.doesNotMatch(container!.output(), /copies all of/);
};
