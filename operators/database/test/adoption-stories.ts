import assert from "node:assert/strict";
import { adoptingTopology, adoptionStep } from "@konverge/database-operator";
import { RealServers } from "./real-servers.ts";
import type { Story } from "./replication-stories.ts";

const ROWS = "select string_agg(text, ' ' order by text) from rows";

/** Volumes of an earlier Database: no server starts before all have reported, and the one that led last leads again. */
export const adoptsVolumes: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, ...options });
  await all.startAll();
  await all.query(0, "create table rows (text text); insert into rows values ('one')");
  all.follow({ term: 2, primary: "" });
  const { lsn } = await all.becomes(0, "stopped");
  await all.until("the standby has all of it", async () => (await all.status(1))!.lsn! > lsn!);
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) });
  await all.becomes(1, "primary");
  await all.streams(0);
  await all.query(1, "insert into rows values ('two')");
  await all.answers(0, ROWS, "one two");
  for (const index of [0, 1]) await all.end(index);

  const decide = async () => {
    // The report of an earlier pod is lost with it.
    const reports = all.servers.map(({ container }, index) => (container ? all.status(index) : undefined));
    const members = (await Promise.all(reports)).map((report, index) => ({
      name: all.nameOf(index),
      pod: undefined,
      report,
    }));
    return adoptionStep(all.database, { topology: all.topology, members });
  };
  all.follow(adoptingTopology());
  all.start(0);
  await all.becomes(0, "waiting");
  assert.equal((await decide()).problem?.reason, "AdoptingVolumes");
  assert.equal(await all.isUp(0), false);
  all.start(1);
  await all.becomes(1, "waiting");
  const { topology, event } = await decide();
  assert.match(event!.message, /postgres-real-1 leads on .* primary of term 3, timeline 2 up to /);
  all.follow(topology);
  await all.becomes(1, "primary");
  await all.streams(0);
  await all.answers(0, ROWS, "one two");
  assert.equal((await all.status(0))?.data, "standby");
};
