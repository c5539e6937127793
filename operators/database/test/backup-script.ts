import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecoveryRoom } from "./recovery-room.ts";

/** What backup.sh promises. The room has a running server, and perhaps a standby; the volume is empty. */
export async function backupHolds(here: RecoveryRoom, standby?: string): Promise<void> {
  const { room } = here;
  const base = join(here.backups, "base");
  const started = await here.now();
  // Files that a killed pod has left under the same name are no obstacle.
  mkdirSync(join(base, ".first", "data"), { recursive: true });
  writeFileSync(join(base, ".first", "data", "junk"), "");
  room.own(here.volume);
  const synced = join(room.folder("log"), "synced");
  here.env = room.pretend({ sync: `echo "$@" >> ${synced}` });
  const first = await here.backup("first");
  assert.equal(first.code, 0, first.output);
  assert.match(
    readFileSync(synced, "utf8"),
    /\/\.first\/info\n/,
    "what is known of it is durable before it has its name",
  );
  here.env = {};
  const { report } = first;
  const stopped = await here.now();
  assert.equal(report["method"], "physical");
  const second = (time: string | undefined) => time?.slice(0, 19) ?? "";
  assert.ok(second(report["started"]) >= second(started), "it began when it began");
  assert.ok(second(report["started"]) <= second(stopped));
  assert.ok(report["stopped"]! > started && report["stopped"]! < stopped, "it ended when it ended");
  assert.match(report["startLSN"]!, /^[0-9A-F]+\/[0-9A-F]+$/);
  assert.match(report["stopLSN"]!, /^[0-9A-F]+\/[0-9A-F]+$/);
  assert.notEqual(report["stopLSN"], report["startLSN"], "it ends after its beginning");
  assert.match(report["startWAL"]!, /^[0-9A-F]{24}$/);
  assert.equal(report["system"], await here.sql("select system_identifier from pg_control_system()"));
  assert.equal(report["version"], (await here.sql("show server_version")).split(".")[0]);
  assert.ok(Number(report["size"]) > 10_000_000);
  assert.equal(report["host"], "127.0.0.1");
  assert.equal(report["kept"], "first");
  assert.deepEqual(readdirSync(base), ["first"]);
  assert.equal((await room.run(["pg_verifybackup", "-q", join(base, "first/data")])).code, 0);

  // A second try of the same goes on after what the first has done.
  const info = readFileSync(join(base, "first/info"), "utf8");
  const again = await here.backup("first");
  assert.equal(again.code, 0, again.output);
  assert.equal(readFileSync(join(base, "first/info"), "utf8"), info);
  assert.equal(again.report["stopLSN"], report["stopLSN"]);

  // A backup that is not whole gets no name.
  here.env = room.pretend({ pg_basebackup: '"$REAL/pg_basebackup" "$@" && rm "$2/PG_VERSION"' });
  const damaged = await here.backup("damaged");
  assert.notEqual(damaged.code, 0);
  assert.match(damaged.report["error"]!, /is not whole/);
  assert.match(damaged.output, /backup\.sh: .* is not whole/, "the log has it, too");
  assert.ok(!existsSync(join(base, "damaged")));
  here.env = {};

  here.env = room.pretend({ sync: "exit 1" });
  assert.notEqual((await here.backup("lost")).code, 0);
  assert.ok(!existsSync(join(base, "lost")), "what may be lost in a power cut has no name");
  here.env = {};

  // A primary that does not answer is an error; a standby that does not is skipped.
  const unreachable = await here.backup("unreachable", { HOST: "127.0.0.9" });
  assert.notEqual(unreachable.code, 0);
  assert.match(unreachable.report["error"]!, /127\.0\.0\.9 did not give a backup/);
  const passed = await here.backup("second", { STANDBY_HOST: "127.0.0.9" });
  assert.equal(passed.report["host"], "127.0.0.1", passed.output);
  assert.equal(passed.report["kept"], "second,first");
  if (standby) {
    const { report: given } = await here.backup("second-again", { STANDBY_HOST: standby });
    assert.equal(given["host"], standby, "a standby that answers gives it");
  }

  // Older backups are removed at the end; if that fails, it is reported.
  const third = await here.backup("third", { KEEP: "1" });
  assert.equal(third.report["kept"], "third", third.output);
  assert.deepEqual(
    readdirSync(base).filter((name) => !name.startsWith(".")),
    ["third"],
  );
  here.env = room.pretend({ find: "exit 1" });
  const stuck = await here.backup("third");
  assert.match(stuck.report["error"] ?? "", /could not be removed/);
  here.env = {};
}

/** Starts a standby of the room's server, and returns its address. The port of all servers of a database is the same. */
export async function startStandby({ room, server }: RecoveryRoom): Promise<string> {
  const host = "127.0.0.2";
  const data = join(room.folder("standby"), "pgdata");
  const connection = `host=127.0.0.1 port=${server.port} user=replicator password='of the replicator'`;
  const copied = await room.run(["pg_basebackup", "-D", data, "-R", "-c", "fast", "-d", connection]);
  assert.equal(copied.code, 0, copied.output);
  await room.startServer(data, {}, {}, { port: server.port, host });
  return host;
}
