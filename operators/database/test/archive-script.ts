import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { RecoveryRoom } from "./recovery-room.ts";

/** What archive.sh promises. `data` is a server's folder; the volume is empty. */
export async function archiveHolds(here: RecoveryRoom, data: string): Promise<void> {
  const { room } = here;
  const synced = join(room.folder("log"), "synced");
  here.env = room.pretend({ sync: `echo "$@" >> ${synced}` });
  const pg_wal = room.folder("pg_wal");
  const segment = join(pg_wal, "000000010000000000000007");
  room.file(segment, "the first text");
  utimesSync(segment, 1_700_000_000, 1_700_000_000);

  const first = await here.archive(data, segment);
  assert.equal(first.code, 0, first.output);
  const [system = "", ...others] = readdirSync(join(here.backups, "wal"));
  assert.deepEqual(others, []);
  assert.match(system, /^\d{10,}$/);
  const folder = join(here.backups, "wal", system);
  const archived = join(folder, "000000010000000000000007");
  assert.deepEqual(readdirSync(folder), ["000000010000000000000007"], "nothing but the segment is there");
  assert.equal(readFileSync(archived, "utf8"), "the first text");
  assert.equal(statSync(archived).mtimeMs, 1_700_000_000_000, "it tells when it was written last");
  const [file, place] = readFileSync(synced, "utf8").trim().split("\n");
  assert.match(file!, /\/\.000000010000000000000007\.\w{6}$/, "it is durable before it has its name");
  assert.equal(place, folder, "and so is its name");

  // The server asks again after a crash: done is done.
  const again = await here.archive(data, segment);
  assert.equal(again.code, 0, again.output);

  // Another file of that name is of another history.
  room.file(segment, "another text");
  const other = await here.archive(data, segment);
  assert.equal(other.code, 1, "it is refused");
  assert.match(other.output, /is there already and differs/);
  assert.equal(readFileSync(archived, "utf8"), "the first text");

  // A file that cannot be copied is not archived under its name, and the server gets an error.
  const missing = await here.archive(data, join(pg_wal, "000000010000000000000008"));
  assert.notEqual(missing.code, 0);
  assert.deepEqual(readdirSync(folder), ["000000010000000000000007"]);

  // A folder that is not a server's data directory is not archived.
  const unrelated = await here.archive(pg_wal, segment);
  assert.notEqual(unrelated.code, 0);
  assert.deepEqual(readdirSync(join(here.backups, "wal")), [system]);
}
