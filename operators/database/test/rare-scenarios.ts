import assert from "node:assert/strict";
import { Database, DatabaseBackup, DatabaseRestore, databaseOperator } from "@konverge/database-operator";
import { isReported, type Scenario, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { CronJob, Job, Node, PersistentVolume, Pod, StorageClass } from "konverge/kinds";
import { play, reaches, runs } from "./recovery-scenarios.ts";

const NAME = "postgres-ledger";
const database = (spec: object) => ({
  apiVersion: "example.com/v1",
  kind: "Database",
  metadata: { name: NAME },
  spec: { version: "16.4", size: "5Gi", ...spec },
});

/** No node takes new pods; returns how that ends. */
export async function closed(stage: TestEnvironment): Promise<() => Promise<void>> {
  const { items } = await stage.client.list(Node, {});
  const set = async (unschedulable: boolean) => {
    for (const { metadata } of items) {
      await stage.client.patch(Node, metadata.name, { merge: { spec: { unschedulable } } });
    }
  };
  await set(true);
  return () => set(false);
}

/** A backup that a user starts from the schedule gets a DatabaseBackup, and expires, like a scheduled one. */
export const startedByHand: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi");
  play(stage);
  await stage.start(databaseOperator);
  await stage.apply(database({ backup: { schedule: "0 3 1 1 *" } }));
  await runs(stage, NAME);
  const { metadata: cron, spec } = await stage.get(CronJob, `${NAME}-backup`);
  const start = async (name: string) => {
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: cron.name, uid: cron.uid!, controller: true };
    const { labels } = spec!.jobTemplate!.metadata!;
    const metadata = { name, namespace: stage.namespace, labels, ownerReferences: [owner] };
    await stage.client.create(Job, { metadata, spec: spec!.jobTemplate!.spec! });
    await reaches(stage, DatabaseBackup, name, "Completed");
  };
  await start("first");
  // Times have a resolution of a second, and the second backup must be later.
  await stage.advance(2_000);
  await start("second");
  assert.equal((await stage.get(DatabaseBackup, "first")).metadata.labels?.["databases.example.com/scheduled"], "true");
  // What the script of the second would report.
  await stage.client.patch(
    DatabaseBackup,
    `${stage.namespace}/second`,
    { merge: { status: { kept: ["second"] } } },
    { subresource: "status" },
  );
  await stage.until("the first is let go", async () => (await stage.find(DatabaseBackup, "first")) === undefined);
  await stage.settled();
  assert.ok(await stage.find(DatabaseBackup, "second"));
};

/** Volumes of a class without expansion keep their size, and that is reported. */
export const cannotGrow: Scenario = async (stage) => {
  const storageClassName = `fixed-${stage.namespace}`;
  await stage.client.create(StorageClass, {
    metadata: { name: storageClassName },
    provisioner: "kubernetes.io/no-provisioner",
  });
  await stage.client.create(PersistentVolume, {
    metadata: { generateName: `${stage.namespace}-` },
    spec: {
      capacity: { storage: "20Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Delete",
      hostPath: { path: `/volumes/${stage.namespace}` },
      storageClassName,
    },
  });
  play(stage);
  await stage.start(databaseOperator);
  await stage.apply(database({ storageClass: storageClassName }));
  await runs(stage, NAME);
  await stage.apply(database({ storageClass: storageClassName, size: "8Gi" }));
  await isReported(stage, Database, NAME, {
    condition: /^StorageAsRequested False CannotGrow .*cannot grow from 5Gi to 8Gi/,
    event: /Warning CannotGrow .*cannot grow from 5Gi to 8Gi/,
  });
  assert.equal((await stage.get(Database, NAME)).status?.phase, "Running");
  await stage.apply(database({ storageClass: storageClassName }));
  await stage.until(
    "all is as asked",
    async () => (await stage.condition(Database, NAME, "StorageAsRequested")) === "True AsRequested",
  );
};

/** A restore is canceled while its pod is unschedulable: the restore stops, and the old data are put back. */
export const restoreGivenUp: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi");
  play(stage);
  await stage.start(databaseOperator);
  await stage.apply(database({ backup: {} }));
  await runs(stage, NAME);
  // As long as a finalizer holds the server's pod, the servers are being stopped.
  const hold = (finalizers: string[]) =>
    stage.client.patch(Pod, `${stage.namespace}/${NAME}-0`, { merge: { metadata: { finalizers } } });
  await hold(["example.com/held"]);
  await stage.apply({
    apiVersion: "example.com/v1",
    kind: "DatabaseRestore",
    metadata: { name: "back" },
    spec: { database: NAME, inPlace: true },
  });
  await reaches(stage, DatabaseRestore, "back", "Stopping");
  const open = await closed(stage);
  try {
    await hold([]);
    await isReported(stage, DatabaseRestore, "back", {
      condition: /^Ready False NoRoom a pod cannot be scheduled/,
      event: /Warning NoRoom a pod cannot be scheduled/,
    });
    await stage.client.delete(DatabaseRestore, `${stage.namespace}/back`);
    await stage.until(
      "no restore is running any more",
      async () => (await stage.find(Job, "back-restore"))?.spec?.suspend === true,
    );
  } finally {
    await open();
  }
  await stage.until("it is deleted", async () => (await stage.find(DatabaseRestore, "back")) === undefined);
  await runs(stage, NAME);
};

/** A Job with the name of a backup and another owner is ignored. */
export const nameTaken: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi");
  play(stage);
  await stage.start(databaseOperator);
  await stage.apply(database({ backup: {} }));
  await runs(stage, NAME);
  const container = { name: "sums", image: "busybox" };
  await stage.client.create(Job, {
    metadata: { name: "night", namespace: stage.namespace },
    spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [container] } } },
  });
  await stage.apply({
    apiVersion: "example.com/v1",
    kind: "DatabaseBackup",
    metadata: { name: "night" },
    spec: { database: NAME },
  });
  await isReported(stage, DatabaseBackup, "night", {
    condition: /False NameTaken there is a Job night that does not belong to this DatabaseBackup/,
    event: /Warning NameTaken there is a Job night/,
  });
  assert.equal((await stage.get(Job, "night")).spec?.suspend, true);
};
