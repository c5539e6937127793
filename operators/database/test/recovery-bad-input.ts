import assert from "node:assert/strict";
import { Database, DatabaseBackup, DatabaseRestore, databaseOperator } from "@konverge/database-operator";
import { type Scenario, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { play, reaches } from "./recovery-scenarios.ts";

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: "example.com/v1",
  kind,
  metadata: { name },
  spec,
});
const waits = (
  stage: TestEnvironment,
  kind: typeof DatabaseBackup | typeof DatabaseRestore,
  name: string,
  why: string,
) => stage.until(`${name} says ${why}`, async () => (await stage.condition(kind, name, "Ready")) === `False ${why}`);

/** What can never succeed is refused or fails with the reason; what cannot succeed now waits until it is fixed. */
export const recoveryBadInput: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi");
  play(stage);
  await stage.start(databaseOperator);
  const refused = async (kind: string, spec: object, why: RegExp, name = "wrong") =>
    assert.rejects(stage.apply(object(kind, name, spec)), why);
  await refused("DatabaseBackup", {}, /spec\.database: Required value/);
  await refused("DatabaseBackup", { database: "" }, /spec\.database/);
  await refused("DatabaseBackup", { database: "a", method: "magic" }, /Unsupported value: "magic"/);
  await refused("DatabaseBackup", { database: "a" }, /at most 63 characters/, "x".repeat(64));
  await refused("DatabaseRestore", { inPlace: true }, /spec\.database: Required value/);
  await refused("DatabaseRestore", { database: "a", inPlace: "yes" }, /spec\.inPlace/);
  await refused("DatabaseRestore", { database: "a", targetTime: "yesterday" }, /spec\.targetTime/);
  await refused("DatabaseRestore", { database: "a", targetLSN: "12" }, /spec\.targetLSN/);
  await refused("DatabaseRestore", { database: "a", targetXID: "-1" }, /spec\.targetXID/);
  await refused("DatabaseRestore", { database: "a", targetTimeline: "older" }, /spec\.targetTimeline/);
  await refused("DatabaseRestore", { database: "a", from: { method: "magic" } }, /Unsupported value: "magic"/);
  await refused("DatabaseRestore", { database: "a", targetXID: "7" }, /targetXID needs from\.backup/);
  const two = { database: "a", targetLSN: "0/1", targetTime: "2026-01-01T00:00:00Z" };
  await refused("DatabaseRestore", two, /set at most one of them/);
  await refused("DatabaseRestore", { database: "a" }, /at most 52 characters/, "x".repeat(53));
  const begins = { version: "1", size: "1Gi", bootstrap: { from: { claim: "a" } } };
  await refused("Database", begins, /a name with 2 characters too many/, "x".repeat(44));
  for (const [field, value] of Object.entries({
    keepFor: "long",
    keep: 0,
    archiveTimeout: "0s",
    size: "much",
    accessMode: "Mine",
    method: "magic",
  })) {
    const spec = { version: "1", size: "1Gi", backup: { [field]: value } };
    await refused("Database", spec, new RegExp(`spec\\.backup\\.${field}`));
  }

  // There is no Database yet.
  await stage.apply(object("DatabaseBackup", "early", { database: "postgres-ledger" }));
  await stage.apply(object("DatabaseRestore", "early", { database: "postgres-ledger", inPlace: true }));
  await waits(stage, DatabaseBackup, "early", "NoDatabase");
  await waits(stage, DatabaseRestore, "early", "NoDatabase");
  await assert.rejects(
    stage.apply(object("DatabaseBackup", "early", { database: "another" })),
    /a backup is immutable: create another one/,
  );
  await assert.rejects(
    stage.apply(object("DatabaseRestore", "early", { database: "another", inPlace: true })),
    /a restore is immutable: create another one/,
  );

  // There, but without backups; then hibernated; then all is well.
  const spec = { engine: "postgres", version: "16.4", size: "5Gi" };
  await stage.apply(object("Database", "postgres-ledger", spec));
  await waits(stage, DatabaseBackup, "early", "NoDatabase");
  await waits(stage, DatabaseRestore, "early", "NoBackups");
  await stage.apply(object("Database", "postgres-ledger", { ...spec, hibernated: true, backup: {} }));
  await waits(stage, DatabaseBackup, "early", "Hibernated");
  await waits(stage, DatabaseRestore, "early", "Hibernated");
  await stage.settled();
  const writes = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), writes, "nothing is written while nothing changes");
  await stage.client.delete(DatabaseRestore, `${stage.namespace}/early`);
  await stage.apply(object("Database", "postgres-ledger", { ...spec, hibernated: false, backup: {} }));
  await reaches(stage, DatabaseBackup, "early", "Completed");

  // A database that runs would be stopped to begin again.
  const again = object("Database", "postgres-ledger", { ...spec, hibernated: false, backup: {}, bootstrap: {} });
  await assert.rejects(stage.apply(again), /spec\.bootstrap.*can only be set when the Database is created/);

  // What would replace data without having said so, and what a server cannot do.
  await stage.apply(object("DatabaseRestore", "careless", { database: "postgres-ledger" }));
  await reaches(stage, DatabaseRestore, "careless", "Failed");
  assert.match((await stage.get(DatabaseRestore, "careless")).status?.error ?? "", /set inPlace: true to allow that/);
  const dump = {
    database: "postgres-ledger",
    inPlace: true,
    from: { method: "logical" },
    targetTime: "2026-01-01T00:00:00Z",
  };
  await stage.apply(object("DatabaseRestore", "dump", dump));
  await reaches(stage, DatabaseRestore, "dump", "Failed");
  assert.match((await stage.get(DatabaseRestore, "dump")).status?.error ?? "", /omit the target/);
  await stage.apply(object("Database", "shop", { engine: "mysql", version: "8.0", size: "1Gi", backup: {} }));
  await stage.apply(object("DatabaseBackup", "files", { database: "shop", method: "physical" }));
  await reaches(stage, DatabaseBackup, "files", "Failed");
  assert.match((await stage.get(DatabaseBackup, "files")).status?.error ?? "", /only postgres has physical backups/);
  await stage.client.delete(Database, `${stage.namespace}/shop`);
};
