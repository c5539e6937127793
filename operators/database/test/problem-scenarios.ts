import assert from "node:assert/strict";
import { Database, DatabaseBackup, DatabaseRestore, databaseOperator } from "@konverge/database-operator";
import {
  isReported,
  lateNode,
  quotaOfPods,
  type Scenario,
  supplyVolumes,
  type TestEnvironment,
  unpullable,
} from "@konverge/operator-suite";
import { PersistentVolumeClaim } from "konverge/kinds";
import { closed } from "./rare-scenarios.ts";
import { play, reaches, runs } from "./recovery-scenarios.ts";

const SIZE = { version: "16.4", size: "5Gi" };
const NAME = "postgres-ledger";

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: "example.com/v1",
  kind,
  metadata: { name },
  spec,
});

/** The expected condition and event, by their reason and a part of the message. */
const expected = (reason: string, message = "") => ({
  condition: new RegExp(`^Ready False ${reason} .*${message}`),
  event: new RegExp(`Warning ${reason} .*${message}`),
});

/** A claim for backups, created by a user. */
const claim = (stage: TestEnvironment, name: string) =>
  stage.client.create(PersistentVolumeClaim, {
    metadata: { name, namespace: stage.namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
  });

async function begun(stage: TestEnvironment, spec: object = SIZE): Promise<void> {
  await supplyVolumes(stage, "20Gi", "20Gi", "20Gi", "20Gi");
  play(stage);
  await stage.start(databaseOperator);
  await stage.apply(object("Database", NAME, spec));
}

/** The reason why servers do not run is reported, and they run once it is fixed. */
export const serverProblems: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi", "20Gi", "20Gi");
  play(stage);
  await stage.start(databaseOperator);
  const allow = await quotaOfPods(stage, 0);
  await stage.apply(object("Database", NAME, SIZE));
  await isReported(stage, Database, NAME, expected("QuotaExceeded", "exceeded quota: few-pods"));
  await allow();
  await runs(stage, NAME);

  // Backups on a claim that does not exist yet.
  await stage.apply(object("Database", "postgres-lacking", { ...SIZE, backup: { claim: "elsewhere" } }));
  await isReported(stage, Database, "postgres-lacking", expected("ClaimMissing", "no PersistentVolumeClaim elsewhere"));
  await claim(stage, "elsewhere");
  await runs(stage, "postgres-lacking");

  // Volumes of a class that there is none of: another Database has one that there is.
  await stage.apply(object("Database", "postgres-classy", { ...SIZE, storageClass: "gold" }));
  await isReported(stage, Database, "postgres-classy", expected("ClaimUnbound", "is waiting for its volume"));
  await stage.client.delete(Database, `${stage.namespace}/postgres-classy`);
};

/** The same of an image that cannot be pulled. */
export const imageProblems: Scenario = async (stage) => {
  const image = "registry.example/none:1";
  unpullable(stage, image);
  await begun(stage, { ...SIZE, image });
  await isReported(stage, Database, NAME, expected("ImageCannotBePulled", `${image} cannot be pulled`));
  await stage.until("it has failed", async () => (await stage.get(Database, NAME)).status?.phase === "Failed");
  await stage.apply(object("Database", NAME, SIZE));
  await runs(stage, NAME);
};

/** Backups and restores are done by the server's image; a node that has not got it pulls it. */
export const taskImageProblems: Scenario = async (stage) => {
  await begun(stage, { ...SIZE, backup: {} });
  await runs(stage, NAME);
  stage.cluster!.image("postgres:16.4", { failPull: "manifest unknown" });
  await stage.apply(object("DatabaseBackup", "night", { database: NAME }));
  await stage.apply(object("DatabaseRestore", "back", { database: NAME, inPlace: true }));
  const report = expected("ImageCannotBePulled", "postgres:16.4 cannot be pulled");
  await isReported(stage, DatabaseBackup, "night", report);
  await isReported(stage, DatabaseRestore, "back", report);
  play(stage);
  await reaches(stage, DatabaseBackup, "night", "Completed");
  await reaches(stage, DatabaseRestore, "back", "Completed");
  await runs(stage, NAME);
};

/** Without nodes everything waits, and goes on when one comes. */
export const noNodes: Scenario = async (stage) => {
  await begun(stage, { ...SIZE, backup: {} });
  await isReported(stage, Database, NAME, expected("NoRoom", "cannot be scheduled"));
  await lateNode(stage);
  await runs(stage, NAME);
};

/** The reason why a backup cannot be taken is reported, and it is taken once that is fixed. */
export const backupProblems: Scenario = async (stage) => {
  await begun(stage, { ...SIZE, backup: {} });
  await stage.apply(object("DatabaseBackup", "lost", { database: "postgres-nowhere" }));
  await isReported(stage, DatabaseBackup, "lost", expected("NoDatabase", "no Database postgres-nowhere"));
  await runs(stage, NAME);
  const allow = await quotaOfPods(stage, 1);
  await stage.apply(object("DatabaseBackup", "first", { database: NAME }));
  await isReported(stage, DatabaseBackup, "first", expected("QuotaExceeded", "exceeded quota: few-pods"));
  await allow();
  await reaches(stage, DatabaseBackup, "first", "Completed");
  const open = await closed(stage);
  try {
    await stage.apply(object("DatabaseBackup", "second", { database: NAME }));
    await isReported(stage, DatabaseBackup, "second", expected("NoRoom", "cannot be scheduled"));
  } finally {
    await open();
  }
  await reaches(stage, DatabaseBackup, "second", "Completed");
};

/** The reason why a restore cannot start is reported, and it runs once that is fixed. */
export const restoreProblems: Scenario = async (stage) => {
  await begun(stage, { ...SIZE, backup: {} });
  await stage.apply(object("DatabaseRestore", "lost", { database: "postgres-nowhere", inPlace: true }));
  await isReported(stage, DatabaseRestore, "lost", expected("NoDatabase", "no Database postgres-nowhere"));
  await runs(stage, NAME);
  const from = { claim: "elsewhere" };
  await stage.apply(object("DatabaseRestore", "back", { database: NAME, inPlace: true, from }));
  // So does a new database that begins with it.
  await stage.apply(object("Database", "postgres-heir", { ...SIZE, bootstrap: { from: { ...from, database: NAME } } }));
  await isReported(stage, DatabaseRestore, "back", expected("ClaimMissing", "no PersistentVolumeClaim elsewhere"));
  await isReported(
    stage,
    DatabaseRestore,
    "postgres-heir-bootstrap",
    expected("ClaimMissing", "no PersistentVolumeClaim elsewhere"),
  );
  const { status } = await stage.get(Database, "postgres-heir");
  assert.equal(status?.phase, "Creating");
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  assert.match(`${ready?.reason} ${ready?.message}`, /^Restoring .*DatabaseRestore postgres-heir-bootstrap/);
  await claim(stage, "elsewhere");
  await reaches(stage, DatabaseRestore, "back", "Completed");
  await runs(stage, "postgres-heir");
  await runs(stage, NAME);
  const allow = await quotaOfPods(stage, 2);
  await stage.apply(object("DatabaseRestore", "again", { database: NAME, inPlace: true }));
  await isReported(stage, DatabaseRestore, "again", expected("QuotaExceeded", "exceeded quota: few-pods"));
  await allow();
  await reaches(stage, DatabaseRestore, "again", "Completed");
  await runs(stage, NAME);
};
