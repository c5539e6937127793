import assert from "node:assert/strict";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { recoveryWindow } from "@konverge/database-operator";
import type { MachineRoom } from "./postgres.ts";
import { RealServers, type RealServersOptions } from "./real-servers.ts";
import type { Story } from "./replication-stories.ts";

const ROWS = "select string_agg(text, ' ' order by text) from rows";
/** WAL goes as soon as a server itself needs it no more. */
const FORGETFUL = { wal_keep_size: "0", min_wal_size: "32MB", max_wal_size: "32MB" };

const OLDEST = "select min(name) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'";
const none = { segmentSize: 1, timeline: 1, segment: 0, history: [], archived: [], waiting: [], backups: [] };

/** Servers whose archive can be out of reach. */
class Archived {
  readonly all: RealServers;

  constructor(all: RealServers) {
    this.all = all;
  }

  static async begin(room: MachineRoom, options: Partial<RealServersOptions>, parameters: Record<string, string> = {}) {
    const all = await RealServers.in(room, { instances: 2, archived: true, parameters, ...options });
    await all.startAll();
    await all.query(0, "create table rows (text text)");
    const here = new Archived(all);
    await here.row(0, "one");
    await all.backup(0, "first");
    return here;
  }

  /** A row in a WAL segment that ends with it. Returns the moment after it. */
  async row(index: number, text: string): Promise<string> {
    await this.all.query(index, `insert into rows values ('${text}')`);
    const now = "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')";
    const moment = await this.all.query(index, now);
    await this.all.query(index, "select pg_switch_wal()");
    return moment;
  }

  get #wal(): string {
    return join(this.all.backups, "postgres-real", "wal");
  }

  /** From now on nothing can be archived, until that is repaired. */
  breakArchive(): void {
    renameSync(this.#wal, `${this.#wal}.aside`);
    this.all.room.file(this.#wal, "in the way");
  }

  repairArchive(): void {
    this.all.room.remove(this.#wal);
    renameSync(`${this.#wal}.aside`, this.#wal);
  }

  /** So much WAL is written that a standby forgets the first of it, unless something keeps it. */
  async forgets(primary: number, standby: number): Promise<void> {
    const { all } = this;
    const before = await all.query(primary, ROWS);
    for (let count = 0; count < 6; count++) await this.row(primary, `x${count}`);
    await all.query(primary, "delete from rows where text like 'x%'; checkpoint");
    await all.answers(standby, ROWS, before);
    await all.query(standby, "checkpoint");
  }

  /** The names of what is archived. */
  archived(): string[] {
    const [system = ""] = readdirSync(this.#wal);
    return readdirSync(join(this.#wal, system)).sort();
  }

  /** Takes a segment out of the archive. */
  lose(name: string): void {
    const [system = ""] = readdirSync(this.#wal);
    this.all.room.remove(join(this.#wal, system, name));
  }

  /** The primary dies without a word, and the other server leads. */
  async failOver(from: number, to: number, term: number): Promise<void> {
    const { all } = this;
    await all.end(from, "killed");
    all.follow({ term, primary: "", upstream: "" });
    await all.becomes(to, "standby");
    all.follow({ term: term + 1, primary: all.nameOf(to), upstream: all.nameOf(to) });
    await all.becomes(to, "primary");
  }

  async allIsArchived(index: number): Promise<void> {
    await this.all.until("all is archived", async () => (await this.all.status(index))?.unarchived === 0);
  }
}

/** A primary dies before it has archived its WAL: the standby that is promoted archives what it has received. */
export const archivesForAnother: Story = async (room, options = {}) => {
  const here = await Archived.begin(room, options);
  const { all } = here;
  await all.until("what the archive has is reported", async () => {
    const window = recoveryWindow((await all.status(0))?.archive ?? none);
    return window !== undefined && window.gaps.length === 0 && window.last >= window.first;
  });
  here.breakArchive();
  const moment = await here.row(0, "two");
  await here.row(0, "three");
  await all.answers(1, ROWS, "one three two");
  await here.failOver(0, 1, 2);
  here.repairArchive();
  await here.row(1, "four");
  await here.allIsArchived(1);
  assert.equal(await all.restored(ROWS), "four one three two");
  assert.equal(await all.restored(ROWS, { targetTime: moment }), "one two");

  // Who hands over leaves its standby a last segment that is not whole: that is not archived by the name of one that is.
  all.start(0);
  await all.streams(0);
  await all.query(1, "insert into rows values ('five')");
  all.follow({ term: 4, primary: "" });
  const { lsn } = await all.becomes(1, "stopped");
  await all.until("the standby has all of it", async () => (await all.status(0))!.lsn! > lsn!);
  all.follow({ term: 5, primary: all.nameOf(0), upstream: all.nameOf(0) });
  await all.becomes(0, "primary");
  await here.row(0, "six");
  await here.allIsArchived(0);
  const last = here.archived().findLast((name) => name.endsWith(".partial"))!;
  assert.match(last, /^00000002/);
  assert.ok(!here.archived().includes(last.slice(0, 24)));
  assert.equal(await all.restored(ROWS), "five four one six three two");
};

/** A former primary that does not know of its successor goes on archiving: what it writes is of no history that goes on. */
export const restoresWhatWentOn: Story = async (room, options = {}) => {
  const here = await Archived.begin(room, options);
  const { all } = here;
  await all.query(0, "insert into rows values ('two')");
  await all.answers(1, ROWS, "one two");
  all.follow({ term: 2, primary: "", upstream: "" }, { only: [1] });
  await all.becomes(1, "standby");
  const left = await all.query(0, "select pg_walfile_name(pg_current_wal_lsn())");
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) }, { only: [1] });
  await all.becomes(1, "primary");
  await here.row(0, "diverged");
  await all.until("it is archived", () => here.archived().includes(left));
  await all.until("the end of the timeline is archived", () => here.archived().includes(`${left}.partial`));
  await here.allIsArchived(1);
  assert.equal(await all.restored(ROWS), "one two");
  assert.equal(await all.restored(ROWS, { targetTimeline: "1" }), "diverged one two");
  // Nor does a standby get it.
  const before = here.archived().filter((name) => name.length === 24 && name < left);
  assert.deepEqual([await all.fetches(1, before.at(-1)!), await all.fetches(1, left)], [true, false]);
};

/** A primary dies before it has archived where its timeline began: without that, a restore would not find any later one. */
export const archivesHistories: Story = async (room, options = {}) => {
  const here = await Archived.begin(room, { ...options, instances: 3 });
  const { all } = here;
  here.breakArchive();
  await here.failOver(0, 1, 2);
  await all.streams(2);
  await here.row(1, "two");
  await all.answers(2, ROWS, "one two");
  await here.failOver(1, 2, 4);
  here.repairArchive();
  await here.row(2, "three");
  await here.allIsArchived(2);
  assert.equal(await all.restored(ROWS), "one three two");
};

/** A standby that was away replays what is archived, and is not copied again. */
export const replaysTheArchive: Story = async (room, options = {}) => {
  const here = await Archived.begin(room, options, { ...FORGETFUL, max_slot_wal_keep_size: "16MB" });
  const { all } = here;
  await all.end(1);
  const oldest = "select min(name) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'";
  const before = await all.query(0, oldest);
  for (let count = 0; count < 6; count++) await here.row(0, `x${count}`);
  await here.allIsArchived(0);
  await all.query(0, "delete from rows where text like 'x%'; checkpoint");
  assert.ok((await all.query(0, oldest)) > before);
  all.start(1);
  await all.streams(1);
  await all.answers(1, ROWS, "one");
  assert.doesNotMatch(all.servers[1]!.container!.output(), /copies all of/);

  // What neither has is copied.
  await all.end(1);
  const missing = await all.query(0, "select pg_walfile_name(pg_current_wal_lsn())");
  for (let count = 0; count < 6; count++) await here.row(0, `y${count}`);
  await here.allIsArchived(0);
  await all.query(0, "delete from rows where text like 'y%'; checkpoint");
  here.lose(missing);
  all.start(1);
  await all.streams(1);
  await all.answers(1, ROWS, "one");
  assert.match(all.servers[1]!.container!.output(), /copies all of/);
};

/** A standby keeps what its primary has not archived, however little it needs itself. */
export const keepsForTheArchive: Story = async (room, options = {}) => {
  const here = await Archived.begin(room, options, FORGETFUL);
  const { all } = here;
  const slot = "select count(*) from pg_replication_slots where slot_name = 'unarchived'";
  await all.answers(1, slot, "1");
  here.breakArchive();
  await here.row(0, "two");
  await here.forgets(0, 1);
  await here.failOver(0, 1, 2);
  here.repairArchive();
  await here.row(1, "three");
  await here.allIsArchived(1);
  assert.equal(await all.restored(ROWS), "one three two");
  // Who leads keeps nothing for itself; what the next one keeps goes when it is archived.
  await all.answers(1, slot, "0");
  all.start(0);
  await all.streams(0);
  await all.answers(0, slot, "1");
  const place = "select restart_lsn from pg_replication_slots where slot_name = 'unarchived'";
  const first = await all.query(0, place);
  await here.row(1, "four");
  await all.until("it keeps less", async () => (await all.query(0, place)) !== first);
};

/** A standby that no longer has what the primary had not archived; its successor must wait for the old one to come back. */
async function holeBegins(...[room, options = {}]: Parameters<Story>): Promise<Archived> {
  const here = await Archived.begin(room, options, { ...FORGETFUL, max_slot_wal_keep_size: "32MB" });
  const { all } = here;
  here.breakArchive();
  await here.row(0, "two");
  await here.row(0, "three");
  await here.forgets(0, 1);
  await all.until("the standby has less WAL than the primary", async () => {
    await all.query(1, "checkpoint");
    return (await all.query(1, OLDEST)) > (await all.query(0, OLDEST));
  });
  await here.failOver(0, 1, 2);
  return here;
}

/** A former primary archives what only it has, before that is taken back. */
export const archivesWhenBack: Story = async (room, options = {}) => {
  const here = await holeBegins(room, options);
  const { all } = here;
  here.repairArchive();
  await here.row(1, "four");
  await here.allIsArchived(1);
  assert.match(await all.restored(ROWS), /WAL is missing/);
  const gaps = async () => recoveryWindow((await all.status(1))?.archive ?? none)?.gaps;
  await all.until("the hole is reported", async () => (await gaps())?.length === 1);
  assert.match((await gaps())![0]!.firstSegment, /^00000001/);
  all.start(0);
  await all.streams(0);
  await all.until("there is no hole any more", async () => (await gaps())?.length === 0);
  assert.equal(await all.restored(ROWS), "four one three two");
};

/** What cannot be archived when a former primary is back is set aside, and archived later; it is not waited for. */
export const archivesLater: Story = async (room, options = {}) => {
  const here = await holeBegins(room, options);
  const { all } = here;
  all.start(0);
  await all.streams(0);
  here.repairArchive();
  await here.row(1, "four");
  await here.allIsArchived(1);
  const aside = join(all.servers[0]!.volume, "unarchived");
  await all.until("what was set aside is archived", () => !existsSync(aside));
  assert.equal(await all.restored(ROWS), "four one three two");

  // What it wrote when another was promoted already is of no history that goes on: no restore finds it.
  all.follow({ term: 4, primary: "", upstream: "" }, { only: [0] });
  await all.becomes(0, "standby");
  here.breakArchive();
  const lost = await all.query(1, "select pg_walfile_name(pg_current_wal_lsn())");
  await here.row(1, "never");
  await all.end(1, "killed");
  all.follow({ term: 5, primary: all.nameOf(0), upstream: all.nameOf(0) });
  await all.becomes(0, "primary");
  here.repairArchive();
  await here.row(0, "five");
  all.start(1);
  await all.streams(1);
  await here.allIsArchived(0);
  assert.equal(await all.restored(ROWS), "five four one three two");
  assert.ok(!here.archived().includes(lost));
};
