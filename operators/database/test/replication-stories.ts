import assert from "node:assert/strict";
import type { MachineRoom } from "./postgres.ts";
import { RealServers } from "./real-servers.ts";

/** Scripts in place of those that are rendered. */
export type Scripts = Readonly<Record<string, string>>;

const ROWS = "select string_agg(text, ' ' order by text) from rows";

/** Rows reach standbys; a restarted server has what it had. */
export async function replicates(room: MachineRoom, scripts: Scripts = {}): Promise<void> {
  const all = await RealServers.in(room, { instances: 2, scripts });
  await all.startAll();
  await all.query(0, "create table rows (text text); insert into rows values ('one'), ('two')");
  await all.answers(1, ROWS, "one two");
  await assert.rejects(all.query(1, "insert into rows values ('x')"), /read-only transaction/);
}
