import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecoveryRoom } from "./recovery-room.ts";
import type { History } from "./restore-script.ts";

/** What a drill promises: it finds what would keep backups from being restored, and touches nothing. */
export async function drillHolds({ system }: History, here: RecoveryRoom): Promise<void> {
  const folder = here.room.folder("drill");
  const before = readdirSync(here.backups, { recursive: true }).sort();
  const query = "select count(*) >= 2 from rows";
  const passed = await here.drill(folder, { query });
  assert.equal(passed.code, 0, passed.output);
  const { backup, target = "", from = "", reach = "", recoveredTo, seconds } = passed.report;
  assert.equal(backup, "second");
  assert.ok(target > from.slice(0, 19) && target < reach, `${from} < ${target} < ${reach}`);
  assert.ok(recoveredTo === undefined || recoveredTo.slice(0, 19) <= target);
  assert.match(seconds ?? "", /^\d+$/);
  assert.deepEqual(readdirSync(folder), [], "the restored data are removed");
  assert.deepEqual(readdirSync(here.backups, { recursive: true }).sort(), before, "nothing is archived");

  const latest = await here.drill(folder, { target: "latest", query: "select count(*) = 5 from rows" });
  assert.equal(latest.code, 0, latest.output);

  const fails = async (
    why: RegExp,
    ...[drill, env]: [Parameters<RecoveryRoom["drill"]>[1]?, Record<string, string>?]
  ) => {
    const { code, report, output } = await here.drill(here.room.folder("drill"), drill, env);
    assert.notEqual(code, 0, `it fails: ${why}`);
    assert.match(report["error"] ?? output, why);
    return report;
  };
  const late = await fails(/the query of the drill returned f$/, { query: "select count(*) > 99 from rows" });
  assert.ok(late["target"], "the second that was chosen is reported");
  await fails(/the query of the drill returned nothing$/, { query: "select 1 from rows where false" });
  await fails(/the query of the drill failed: .*relation "missing" does not exist/, { query: "select 1 from missing" });
  await fails(/database "other" does not exist/, { query: "select 1", database: "other" });
  await fails(/pages of the restored data are damaged/, {}, here.room.pretend({ pg_checksums: "exit 1" }));

  // A byte of the backup is flipped; a segment is missing.
  const file = join(here.backups, "base/second/data/global/pg_filenode.map");
  const bytes = readFileSync(file);
  writeFileSync(
    file,
    bytes.map((byte, at) => (at === 20 ? byte ^ 1 : byte)),
  );
  await fails(/backup second is damaged/);
  writeFileSync(file, bytes);
  const folderOfWal = join(here.backups, "wal", system);
  const middle = readdirSync(folderOfWal)
    .filter((name) => name.length === 24)
    .sort()
    .at(-2)!;
  renameSync(join(folderOfWal, middle), join(folderOfWal, "aside"));
  await fails(new RegExp(`WAL is missing: no segment ${middle}`));
  renameSync(join(folderOfWal, "aside"), join(folderOfWal, middle));
}
