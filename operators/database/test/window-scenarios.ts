import assert from "node:assert/strict";
import { AFTER_GAP, Database, DatabaseBackup, databaseOperator } from "@konverge/database-operator";
import type { Scenario } from "@konverge/operator-suite";
import { PretendServers } from "./pretend-servers.ts";
import { isReady, NAME, replicated } from "./replica-scenarios.ts";

/** WAL goes missing in the archive: that is reported within a minute, and a base backup follows. */
export const reportsGaps: Scenario = async (stage) => {
  const servers = new PretendServers(stage);
  servers.play("postgres");
  const operator = await stage.start(databaseOperator);
  await stage.apply(replicated({ instances: 1, backup: {} }));
  await isReady(stage);
  const time = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString();
  const archived = (runs: string, ...backups: string[]) => {
    servers.archive = ["segmentSize=16777216", "position=1:9", `archived=${runs}`, `backups=${backups.join(",")}`];
  };
  const run = (first: number, last: number) => `1:${first}-${last}@${Date.parse(time(last)) / 1000}`;
  const recoverable = () => stage.condition(Database, NAME, "Recoverable");
  const exports = async (line: string) => (await operator.metrics()).includes(line);
  const open = (value: number) => `database_wal_gap_open{namespace="${stage.namespace}",name="${NAME}"} ${value}`;

  archived(run(1, 8));
  await stage.until("there is no backup", async () => (await recoverable()) === "False NoBackup");
  archived(run(1, 8), `first@${time(2)}@1:2`);
  await stage.until("it is continuous", async () => (await recoverable()) === "True Continuous");
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual([status?.firstRecoverable, status?.lastRecoverable, status?.gaps], [time(2), time(8), undefined]);
  assert.ok(await exports(open(0)));

  archived(`${run(1, 5)},${run(7, 8)}`, `first@${time(2)}@1:2`);
  await stage.advance(60_000);
  assert.equal(await recoverable(), "False WALMissing");
  assert.ok(await exports(open(1)));
  const segments = { firstSegment: "000000010000000000000006", lastSegment: "000000010000000000000006" };
  const { status: then } = await stage.get(Database, NAME);
  assert.deepEqual([then?.lastRecoverable, then?.gaps], [time(5), [{ from: time(5), ...segments }]]);
  await stage.until("a base backup follows", async () => {
    const [backup] = await stage.list(DatabaseBackup);
    return backup?.spec.database === NAME && backup.metadata.labels?.[AFTER_GAP] === segments.lastSegment;
  });

  archived(`${run(1, 5)},${run(7, 8)}`, `first@${time(2)}@1:2`, `second@${time(8)}@1:8`);
  await stage.until("it is closed", async () => (await recoverable()) === "True GapsBeforeLastBackup");
  const { status: last } = await stage.get(Database, NAME);
  assert.deepEqual([last?.lastRecoverable, last?.gaps], [time(8), [{ from: time(5), to: time(8), ...segments }]]);
  assert.ok(await exports(open(0)));
};

/** The least of it, for a test that plays it very often: one backup follows. */
export const backsUpAfterGap: Scenario = async (stage) => {
  const servers = new PretendServers(stage);
  servers.play("postgres");
  await stage.start(databaseOperator);
  await stage.apply(replicated({ instances: 1, backup: {} }));
  await isReady(stage);
  const recoverable = () => stage.condition(Database, NAME, "Recoverable");
  const facts = ["segmentSize=16777216", "position=1:9", "archived=1:1-5@1772366700,1:7-8@1772366880"];
  const backups = "backups=first@2026-03-01T12:02:00Z@1:2";
  servers.archive = [...facts, backups];
  await stage.until("the gap is reported", async () => (await recoverable()) === "False WALMissing");
  await stage.until("a base backup follows", async () => (await stage.list(DatabaseBackup)).length > 0);
  servers.archive = [...facts, `${backups},second@2026-03-01T12:08:00Z@1:8`];
  await stage.until("it is closed", async () => (await recoverable()) === "True GapsBeforeLastBackup");
  assert.equal((await stage.list(DatabaseBackup)).length, 1);
};
