import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecoveryRoom } from "./recovery-room.ts";

const DAY = 86_400_000;

/** What backup-prune.sh promises, on a volume without real backups. */
export async function pruneHolds(here: RecoveryRoom): Promise<void> {
  const { room } = here;
  const ago = (days: number) => new Date(Date.parse(NOW) - days * DAY).toISOString();
  const NOW = (await room.run(["date", "-u", "+%Y-%m-%dT%H:%M:%SZ"])).output.trim();
  const backup = (name: string, days: number, wal: string, system = "71") => {
    mkdirSync(join(here.backups, "base", name, "data"), { recursive: true });
    writeFileSync(join(here.backups, "base", name, "data", "PG_VERSION"), "15");
    const info = `method=physical\nstopped=${ago(days)}\nstartWAL=${wal}\nsystem=${system}\n`;
    writeFileSync(join(here.backups, "base", name, "info"), info);
  };
  const segments = (system: string, ...names: string[]) => {
    mkdirSync(join(here.backups, "wal", system), { recursive: true });
    for (const name of names) writeFileSync(join(here.backups, "wal", system, name), "");
  };
  const lay = () => {
    here.clear();
    // Named so that their names' order is not their times'.
    backup("e-oldest", 9, "000000010000000000000010");
    backup("a-older", 6, "000000010000000000000020");
    backup("d-old", 4, "000000020000000000000030");
    backup("b-new", 2, "000000010000000000000040");
    backup("c-newest", 1, "000000020000000000000050");
    segments("71", "000000010000000000000018", "00000001000000000000001F", "000000010000000000000020");
    segments(
      "71",
      "000000020000000000000020",
      "00000002000000000000002F",
      "000000020000000000000030",
      "00000002.history",
    );
    segments("71", "00000001000000000000003F", "000000010000000000000040", "000000020000000000000051");
    segments("99", "000000010000000000000001");
    mkdirSync(join(here.backups, "base", ".killed"));
    mkdirSync(join(here.backups, "base", ".at-work"));
    const long = Date.parse(ago(2)) / 1000;
    utimesSync(join(here.backups, "base", ".killed"), long, long);
    room.own(here.volume);
  };
  const left = (folder: string) => readdirSync(join(here.backups, folder)).sort();

  // The newest stay, with the WAL that the oldest of them needs, of whichever history.
  lay();
  const two = await here.prune("base", { KEEP: "2", KEEP_FOR: "" });
  assert.equal(two.code, 0, two.output);
  assert.equal(two.output, "c-newest,b-new\n");
  assert.deepEqual(left("base"), [".at-work", "b-new", "c-newest"]);
  assert.deepEqual(left("wal/71"), ["000000010000000000000040", "00000002.history", "000000020000000000000051"]);
  assert.ok(!existsSync(join(here.backups, "wal/99")), "WAL without a backup goes");

  // With several timelines, the position decides which WAL is older.
  lay();
  assert.equal((await here.prune("base", { KEEP: "3", KEEP_FOR: "" })).output, "c-newest,b-new,d-old\n");
  assert.ok(left("wal/71").includes("000000020000000000000030"));
  assert.ok(!left("wal/71").includes("00000002000000000000002F"));

  // To any moment of five days: also what is older, if nothing else leads there.
  lay();
  const days = await here.prune("base", { KEEP: "1", KEEP_FOR: String(5 * 86_400) });
  assert.equal(days.output, "c-newest,b-new,d-old,a-older\n");
  assert.deepEqual(left("base"), [".at-work", "a-older", "b-new", "c-newest", "d-old"]);
  assert.ok(!left("wal/71").includes("00000001000000000000001F"));
  assert.ok(left("wal/71").includes("000000010000000000000020"));

  // As many as asked for stay, however old they are.
  lay();
  const four = await here.prune("base", { KEEP: "4", KEEP_FOR: "3600" });
  assert.equal(four.output, "c-newest,b-new,d-old,a-older\n");

  // A backup that cannot be removed is reported, and no longer counts as one.
  lay();
  here.env = room.pretend({ rm: 'case "$*" in -rf*oldest*) exit 1 ;; esac\nexec /bin/rm "$@"' });
  const stuck = await here.prune("base", { KEEP: "4", KEEP_FOR: "" });
  assert.notEqual(stuck.code, 0);
  assert.ok(!existsSync(join(here.backups, "base/e-oldest/info")));
  here.env = {};

  // Dumps have no WAL.
  lay();
  mkdirSync(join(here.backups, "dumps"));
  for (const [name, days] of [
    ["one", 2],
    ["two", 1],
  ] as const) {
    mkdirSync(join(here.backups, "dumps", name));
    writeFileSync(join(here.backups, "dumps", name, "info"), `stopped=${ago(days)}\n`);
  }
  room.own(here.volume);
  const dumps = await here.prune("dumps", { KEEP: "1", KEEP_FOR: "" });
  assert.equal(dumps.output, "two\n");
  assert.deepEqual(left("dumps"), ["two"]);
  assert.ok(left("wal/71").includes("000000010000000000000018"));
}
