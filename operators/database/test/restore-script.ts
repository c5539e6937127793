import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TaskReport } from "../src/task-report.ts";
import type { MachineRoom } from "./postgres.ts";
import { RecoveryRoom } from "./recovery-room.ts";

/** A volume with backups and WAL, and what was when. Made once; everything below works on copies of it. */
export interface History {
  readonly here: RecoveryRoom;
  /** The folder of the server's volume as it was at the end. */
  readonly volume: string;
  /** Before the first backup. */
  readonly early: string;
  /** After row `two`, by time, by place and by transaction; after the second backup. */
  readonly moment: string;
  readonly place: string;
  readonly transaction: string;
  /** After the last row, and before the last WAL was archived. */
  readonly quiet: string;
  /** The system, and the last archived segment. */
  readonly system: string;
  readonly last: string;
}

/** One, backup `first`, two, backup `second`, three, four. */
export async function makeHistory(room: MachineRoom): Promise<History> {
  const here = new RecoveryRoom(room);
  await here.begin();
  const early = await here.now();
  await here.row("one");
  assert.equal((await here.backup("first")).code, 0);
  await here.row("two");
  assert.equal((await here.backup("second")).code, 0);
  await here.row("three");
  const transaction = await here.sql("insert into rows values ('by number') returning pg_current_xact_id()");
  const place = await here.sql("select pg_current_wal_insert_lsn()");
  const moment = await here.now();
  await here.archived();
  await here.row("four");
  const quiet = await here.now();
  // A moment without commits, and then WAL that has none either: the archive reaches further than the last commit.
  const second = (time: string) => Math.floor(Date.parse(time) / 1000);
  await here.room.until("two seconds have passed", async () => second(await here.now()) > second(quiet) + 1);
  await here.sql("checkpoint");
  const last = await here.sql("select pg_walfile_name(pg_switch_wal())");
  await here.room.until(
    "all is archived",
    async () => (await here.sql("select last_archived_wal from pg_stat_archiver")) >= last,
  );
  const system = await here.sql("select system_identifier from pg_control_system()");
  const data = await here.stop();
  return { here, volume: dirname(data), early, moment, place, transaction, quiet, system, last };
}

/** What is refused before anything is touched. */
export async function checkHolds(history: History, here: RecoveryRoom): Promise<void> {
  const { volume, early, system, last, moment, place } = history;
  const wal = (name: string) => join(here.backups, "wal", system, name);
  const good = await here.restore("check", volume, { targetTime: moment });
  assert.equal(good.code, 0, good.output);
  assert.equal(good.report["backup"], "second", "the newest that leads there");
  assert.ok(good.report["from"]! < moment);
  assert.ok(good.report["reach"]! > moment.slice(0, 19));
  const stopped = (name: string) =>
    /^stopped=(.*)$/m.exec(readFileSync(join(here.backups, "base", name, "info"), "utf8"))![1]!;
  const between = await here.restore("check", volume, { targetTime: stopped("first") });
  assert.equal(between.report["backup"], "first", between.output);
  const placed = await here.restore("check", volume, { targetLSN: place });
  assert.equal(placed.report["backup"], "second", placed.output);
  const refused = async (why: RegExp, spec: Parameters<RecoveryRoom["restore"]>[2] = {}) => {
    const { code, report, output } = await here.restore("check", volume, spec);
    assert.notEqual(code, 0, `it is refused: ${why}`);
    assert.match(report["error"] ?? output, why);
    assert.match(output, /^restore\.sh: /m, "the log has it, too");
  };
  const range = `possible is ${stopped("first").slice(0, 19)}.*and later`;
  await refused(new RegExp(`before the first backup: ${range}`), { targetTime: early });
  await refused(new RegExp(`before the first backup: ${range}`), { targetTime: justBefore(stopped("first")) });
  await refused(new RegExp(`before the first backup: ${range}`), { targetLSN: "0/1" });
  await refused(/before the end of backup second: possible is .* and later/, {
    targetTime: stopped("first"),
    from: { backup: "second" },
  });
  await refused(/after the last archived WAL: possible is \d{4}-.* at the latest/, {
    targetTime: "2099-01-01T00:00:00Z",
  });
  await refused(/after the last archived WAL: possible is .*\([0-9A-F]+\/[0-9A-F]+\) at the latest/, {
    targetLSN: "FF/0",
  });
  await refused(/there is no backup third/, { from: { backup: "third" } });

  // Gaps are found, wherever they are; what is older than the backup is not missed.
  const names = readdirSync(join(here.backups, "wal", system))
    .filter((name) => name.length === 24)
    .sort();
  const middle = names.at(-2)!;
  assert.ok(middle < last);
  renameSync(wal(middle), wal("aside"));
  await refused(new RegExp(`WAL is missing: no segment ${middle} `));
  // What a server wrote that did not know of its successor closes no gap.
  writeFileSync(
    wal("00000002.history"),
    `1\t0/${(Number.parseInt(middle.slice(16), 16) << 24).toString(16).toUpperCase()}\tx\n`,
  );
  writeFileSync(wal(`00000002${last.slice(8)}`), "");
  renameSync(wal("aside"), wal(middle));
  await refused(new RegExp(`WAL is missing: no segment 00000002${middle.slice(8)} `));
  assert.equal((await here.restore("check", volume, { targetTimeline: "current" })).code, 0);
  assert.equal((await here.restore("check", volume, { targetTimeline: "1" })).code, 0);
  rmSync(wal("00000002.history"));
  rmSync(wal(`00000002${last.slice(8)}`));
  renameSync(wal(middle), wal("aside"));
  renameSync(wal("aside"), wal(middle));
  renameSync(wal(names[0]!), wal("aside"));
  assert.equal((await here.restore("check", volume)).code, 0, "WAL from before the backup is not needed");
  renameSync(wal("aside"), wal(names[0]!));

  // Another version cannot read it, and what is damaged is not restored.
  const info = join(here.backups, "base/second/info");
  const text = readFileSync(info, "utf8");
  writeFileSync(info, text.replace(/^version=.*$/m, "version=9"));
  await refused(/is of version 9, and this is/);
  writeFileSync(info, text);
  const file = join(here.backups, "base/second/data/global/pg_control");
  const bytes = readFileSync(file);
  writeFileSync(file, Buffer.concat([bytes.subarray(0, 100), Buffer.from("!"), bytes.subarray(101)]));
  await refused(/backup second is damaged/);
  writeFileSync(file, bytes);
  renameSync(join(here.backups, "base"), join(here.backups, "elsewhere"));
  await refused(/there are no backups/);
  renameSync(join(here.backups, "elsewhere"), join(here.backups, "base"));
}

/** A microsecond earlier, within the second. */
function justBefore(moment: string): string {
  return moment.replace(
    /\d{6}Z$/,
    (micros) => `${String(Math.max(0, Number.parseInt(micros, 10) - 1)).padStart(6, "0")}Z`,
  );
}

/** A copy of a history that is restored in place. `volume` is the server's, with its data in `pgdata`. */
class Copy {
  readonly here: RecoveryRoom;
  readonly volume: string;
  readonly data: string;

  constructor(here: RecoveryRoom, volume: string) {
    this.here = here;
    this.volume = volume;
    this.data = join(volume, "pgdata");
  }

  /** What the server has when it is started. */
  async rows(): Promise<string[]> {
    await this.here.startOn(this.data);
    const rows = await this.here.rows();
    await this.here.stop();
    return rows;
  }

  async restored(spec: Parameters<RecoveryRoom["restore"]>[2]): Promise<TaskReport> {
    const { code, output, report } = await this.here.restore("restore", this.volume, spec);
    assert.equal(code, 0, output);
    return report;
  }

  async undone(): Promise<void> {
    const { code, output } = await this.here.restore("undo", this.volume);
    assert.equal(code, 0, output);
    assert.deepEqual(readdirSync(this.volume), ["pgdata"]);
  }
}

const ALL = ["by number", "four", "one", "three", "two"];
const UNTIL_THE_MOMENT = ["by number", "one", "three", "two"];

/** What comes back by a moment, and what is kept meanwhile. */
export async function restoreByTimeHolds(
  { moment, system }: History,
  here: RecoveryRoom,
  volume: string,
): Promise<void> {
  const copy = new Copy(here, volume);
  const { data } = copy;
  // Files of a killed pod: the restore starts again.
  mkdirSync(`${data}.restoring-back`);
  here.room.own(volume);
  const byTime = await copy.restored({ targetTime: moment });
  assert.equal(byTime["backup"], "second");
  assert.equal(byTime["timeline"], "2");
  assert.ok(byTime["recoveredTo"]! <= moment && byTime["recoveredTo"]! > byTime["from"]!);
  assert.deepEqual(readdirSync(volume).sort(), ["pgdata", "pgdata.before-back"]);
  assert.ok(existsSync(`${data}.before-back/PG_VERSION`), "the old data are aside");
  assert.deepEqual(await copy.rows(), UNTIL_THE_MOMENT);
  assert.ok(existsSync(join(here.backups, "wal", system, "00000002.history")), "the new history is archived");

  // Said again, it is done already; undone, all is as it was, and the new history is forgotten.
  const inode = readFileSync(join(data, "postmaster.opts"), "utf8");
  await copy.restored({ targetTime: moment });
  assert.equal(readFileSync(join(data, "postmaster.opts"), "utf8"), inode);
  await copy.undone();
  assert.ok(!existsSync(join(here.backups, "wal", system, "00000002.history")));
  assert.deepEqual(await copy.rows(), ALL);
}

/** What comes back by a place and by a transaction. One that the archive does not have changes nothing. */
export async function restoreByPlaceHolds(
  { place, transaction }: History,
  here: RecoveryRoom,
  volume: string,
): Promise<void> {
  const copy = new Copy(here, volume);
  await copy.restored({ targetLSN: place, from: { backup: "first" } });
  assert.deepEqual(await copy.rows(), UNTIL_THE_MOMENT);
  await copy.undone();
  await copy.restored({ targetXID: transaction, from: { backup: "second" } });
  assert.deepEqual(await copy.rows(), UNTIL_THE_MOMENT);
  await copy.undone();
  const never = await here.restore("restore", volume, { targetXID: "4000000000", from: { backup: "second" } });
  assert.notEqual(never.code, 0);
  assert.match(
    never.report["error"]!,
    /did not come up: .*recovery ended before configured recovery target was reached/,
  );
  await copy.undone();
}

/** A moment after the last commit, and a restore that is cut off between the two renamings. */
export async function restoreToTheEndHolds({ quiet }: History, here: RecoveryRoom, volume: string): Promise<void> {
  const copy = new Copy(here, volume);
  const { data } = copy;
  const synced = join(here.room.folder("log"), "synced");
  here.env = here.room.pretend({ initdb: `echo "$@" >> ${synced}` });
  await copy.restored({ targetTime: quiet });
  here.env = {};
  assert.match(readFileSync(synced, "utf8"), /--sync-only .*restoring-back/, "it is durable before it takes its place");
  assert.deepEqual(await copy.rows(), ALL);

  const cut = () => {
    renameSync(data, `${data}.restoring-back`);
    writeFileSync(`${data}.restoring-back.ready`, "");
  };
  cut();
  await copy.restored({ targetTime: quiet });
  assert.deepEqual(readdirSync(volume).sort(), ["pgdata", "pgdata.before-back"]);
  cut();
  await copy.undone();
  assert.deepEqual(await copy.rows(), ALL);
}

/** All of it, for good; and only where that was said. */
export async function restoreForGoodHolds(_: History, here: RecoveryRoom, volume: string): Promise<void> {
  const copy = new Copy(here, volume);
  await copy.restored({});
  const finished = await here.restore("finish", volume);
  assert.equal(finished.code, 0, finished.output);
  assert.deepEqual(readdirSync(volume), ["pgdata"]);
  assert.deepEqual(await copy.rows(), ALL);
  const kept = await here.restore("restore", volume, { inPlace: false });
  assert.notEqual(kept.code, 0);
  assert.match(kept.report["error"]!, /already: they are not replaced/);
}

/** What brings data back in place. */
export const RESTORES = [restoreByTimeHolds, restoreByPlaceHolds, restoreToTheEndHolds, restoreForGoodHolds];

/** Into an empty volume, and what protects one that is not. */
export async function newDataHold(history: History, here: RecoveryRoom): Promise<void> {
  const { room } = here;
  const volume = room.folder("new-volume");
  const data = join(volume, "pgdata");
  here.env = room.pretend({ initdb: "exit 1" });
  const lost = await here.restore("restore", volume, { inPlace: false, targetTime: history.moment });
  assert.notEqual(lost.code, 0);
  assert.ok(!existsSync(data), "what may be lost in a power cut does not take its place");
  here.env = {};
  const first = await here.restore("restore", volume, { inPlace: false, targetTime: history.moment });
  assert.equal(first.code, 0, first.output);
  assert.ok(existsSync(join(data, "PG_VERSION")));
  const undone = await here.restore("undo", volume, { inPlace: false });
  assert.equal(undone.code, 0, undone.output);
  assert.deepEqual(readdirSync(volume), [], "where nothing was, nothing is");
  assert.equal((await here.restore("undo", volume)).code, 0, "there is nothing to undo");

  // Without data in their place, what was there before is not removed.
  mkdirSync(`${data}.before-back`);
  writeFileSync(`${data}.before-back/PG_VERSION`, "15");
  room.own(volume);
  const finish = await here.restore("finish", volume);
  assert.match(finish.report["error"] ?? "", /what was there before is not removed/);
  assert.ok(existsSync(`${data}.before-back/PG_VERSION`));

  // Data that were created in the meantime are kept.
  mkdirSync(data);
  mkdirSync(`${data}.restoring-back`);
  writeFileSync(`${data}.restoring-back.ready`, "");
  room.own(volume);
  const taken = await here.restore("restore", volume);
  assert.match(taken.report["error"] ?? "", /was created by another process/);
  assert.deepEqual(readdirSync(data), []);
}

/** A copy of the history's volumes, for something that changes them. */
export function copyOf(history: History): { here: RecoveryRoom; volume: string } {
  const here = history.here.fork();
  const volume = here.room.folder("volume");
  here.room.fill(volume, history.volume);
  return { here, volume };
}
