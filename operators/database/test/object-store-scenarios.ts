import assert from "node:assert/strict";
import { Database, DatabaseBackup, DatabaseRestore, databaseOperator } from "@konverge/database-operator";
import { type Scenario, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { ConfigMap, CronJob, Job, PersistentVolumeClaim, type PodSpec, StatefulSet } from "konverge/kinds";
import { play, reaches, runs } from "./recovery-scenarios.ts";
import { sample } from "./scenarios.ts";

const NAME = "postgres-archive";
const IMAGE = "registry.example.com/postgres-pgbackrest:16.4";
const object = (kind: string, name: string, spec: object) => ({
  apiVersion: "example.com/v1",
  kind,
  metadata: { name },
  spec,
});
const STORE = { bucket: "backups", credentials: { secretName: "backup-store" } };

async function begin(stage: TestEnvironment): Promise<void> {
  await supplyVolumes(stage, "20Gi", "20Gi", "20Gi", "20Gi");
  play(stage, {}, IMAGE);
  await stage.start(databaseOperator);
}

const claimsOf = ({ volumes = [] }: PodSpec) => volumes.flatMap((one) => one.persistentVolumeClaim?.claimName ?? []);
const environmentOf = ({ containers }: PodSpec) =>
  Object.fromEntries((containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
const podOf = async (stage: TestEnvironment, job: string) => (await stage.get(Job, job)).spec!.template.spec!;

/** Servers archive to the store and mount no storage for it; a backup is read on the primary's node; a copy is restored from it. */
export const inObjectStore: Scenario = async (stage) => {
  await begin(stage);
  await stage.apply(sample("object-store"));
  await runs(stage, NAME);
  await reaches(stage, DatabaseBackup, "archive-first", "Completed");
  const address = `s3://backups/${stage.namespace}/${NAME}`;
  const { status } = await stage.get(DatabaseBackup, "archive-first");
  assert.deepEqual([status?.store, status?.claim, status?.folder], [address, undefined, undefined]);
  assert.equal(await stage.find(PersistentVolumeClaim, `${NAME}-backup`), undefined);

  const server = (await stage.get(StatefulSet, NAME)).spec!.template.spec!;
  assert.deepEqual(claimsOf(server), []);
  assert.ok(server.affinity?.podAntiAffinity, "servers need not share a node");
  const secrets = server.volumes!.find((one) => one.name === "store")!.projected!.sources!;
  assert.deepEqual(
    secrets.map(({ secret }) => [secret!.name, secret!.items!.map(({ key }) => key)]),
    [
      ["backup-store", ["access-key-id", "secret-access-key"]],
      ["backup-passphrase", ["passphrase"]],
    ],
  );
  const env = environmentOf(server);
  assert.equal(env["PGBACKREST_REPO1_S3_ENDPOINT"], "s3.example.com");
  assert.equal(env["PGBACKREST_REPO1_PATH"], `/${stage.namespace}/${NAME}`);
  assert.equal(env["PGBACKREST_REPO1_CIPHER_TYPE"], "aes-256-cbc");
  const settings = (await stage.get(ConfigMap, `${NAME}-config`)).data?.["postgresql.conf"] ?? "";
  assert.match(settings, /^archive_command = 'sh "\$SCRIPTS\/pgbackrest-archive\.sh" "%p"'$/m);

  const backup = await podOf(stage, "archive-first");
  assert.deepEqual(claimsOf(backup), [`data-${NAME}-0`]);
  const data = backup.containers[0]!.volumeMounts!.find((one) => one.name === "data");
  assert.equal(data?.readOnly, true, "the server's files are only read");
  const term = backup.affinity!.podAffinity!.requiredDuringSchedulingIgnoredDuringExecution![0]!;
  assert.equal(term.labelSelector!.matchLabels!["statefulset.kubernetes.io/pod-name"], `${NAME}-0`);
  const scheduled = (await stage.get(CronJob, `${NAME}-backup`)).spec!.jobTemplate.spec!.template.spec!;
  assert.deepEqual(scheduled.containers[0]!.command, ["sh", "/scripts/pgbackrest-backup.sh"]);

  await stage.apply(
    object("Database", "postgres-copy", {
      ...{ version: "16.4", size: "5Gi", image: IMAGE },
      bootstrap: { from: { database: NAME, backup: "archive-first" } },
    }),
  );
  await reaches(stage, DatabaseRestore, "postgres-copy-bootstrap", "Completed");
  await runs(stage, "postgres-copy");
  const restored = await stage.get(DatabaseRestore, "postgres-copy-bootstrap");
  assert.deepEqual(
    [restored.status?.objectStore?.path, restored.status?.claim],
    [`/${stage.namespace}/${NAME}`, undefined],
    "where the backups are stays known",
  );
  const restoring = await podOf(stage, "postgres-copy-bootstrap-restore");
  assert.equal(environmentOf(restoring)["STORE"], address);
  assert.equal(environmentOf(restoring)["BACKUP"], "archive-first");
  assert.deepEqual(claimsOf(restoring), ["data-postgres-copy-0"]);
  await stage.settled();
};

/** A database moves to a store and keeps its volume of older backups; its backups outlive it in the store. */
export const movesToStore: Scenario = async (stage) => {
  await begin(stage);
  const spec = { version: "16.4", size: "5Gi", image: IMAGE };
  await stage.apply(sample("object-store").split("---\n").slice(0, 2).join("---\n"));
  await stage.apply(object("Database", NAME, { ...spec, backup: {} }));
  await runs(stage, NAME);
  const claim = await stage.get(PersistentVolumeClaim, `${NAME}-backup`);
  await stage.apply(object("Database", NAME, { ...spec, backup: { objectStore: STORE } }));
  await stage.until("its server archives to the store", async () => {
    const pod = (await stage.get(StatefulSet, NAME)).spec!.template.spec!;
    return environmentOf(pod)["STORE"] !== undefined && claimsOf(pod).length === 0;
  });
  await stage.settled();
  assert.equal((await stage.get(PersistentVolumeClaim, `${NAME}-backup`)).metadata.uid, claim.metadata.uid);

  await stage.apply(object("DatabaseBackup", "dump", { database: NAME, method: "logical" }));
  await reaches(stage, DatabaseBackup, "dump", "Failed");
  assert.match((await stage.get(DatabaseBackup, "dump")).status?.error ?? "", /dumps are kept on volumes only/);
  await stage.client.delete(Database, `${stage.namespace}/${NAME}`);
  await stage.until("it is deleted", async () => (await stage.find(Database, NAME)) === undefined);
  const from = { database: NAME, objectStore: STORE };
  await stage.apply(object("Database", "postgres-heir", { ...spec, bootstrap: { from } }));
  await reaches(stage, DatabaseRestore, "postgres-heir-bootstrap", "Completed");
  const pod = await podOf(stage, "postgres-heir-bootstrap-check");
  assert.equal(environmentOf(pod)["STORE"], `s3://backups/${stage.namespace}/${NAME}`);
  await runs(stage, "postgres-heir");
};

/** What excludes each other, and what is missing, is refused by the API server. */
export const storeBadInput: Scenario = async (stage) => {
  await stage.start(databaseOperator);
  const refused = (backup: object, why: RegExp, more: object = { image: IMAGE }) =>
    assert.rejects(stage.apply(object("Database", NAME, { version: "16.4", size: "5Gi", ...more, backup })), why);
  await refused({ objectStore: STORE, claim: "mine" }, /spec\.backup\.claim: Forbidden: .*omit it, or objectStore/);
  await refused({ objectStore: STORE, accessMode: "ReadWriteMany" }, /spec\.backup\.accessMode: Forbidden/);
  await refused({ objectStore: STORE, method: "logical" }, /spec\.backup\.method: Forbidden/);
  await refused(
    { objectStore: STORE },
    /spec\.image: Required value: .*one of PostgreSQL that also has pgBackRest/,
    {},
  );
  await refused({ objectStore: STORE }, /spec\.backup\.objectStore: Forbidden: .*postgres only/, {
    ...{ engine: "mysql", image: IMAGE },
  });
  await refused({ objectStore: { bucket: "backups" } }, /spec\.backup\.objectStore\.credentials: Required value/);
  await refused(
    { objectStore: { ...STORE, endpoint: "http://s3" } },
    /spec\.backup\.objectStore\.endpoint: Invalid value/,
  );
  await refused({ objectStore: { ...STORE, path: "without/slash" } }, /spec\.backup\.objectStore\.path: Invalid value/);
  const from = { claim: "mine", objectStore: STORE };
  await assert.rejects(
    stage.apply(object("DatabaseRestore", "back", { database: NAME, from })),
    /from\.claim, from\.objectStore: set at most one of them/,
  );
  await assert.rejects(
    stage.apply(object("Database", NAME, { version: "16.4", size: "5Gi", bootstrap: { from } })),
    /claim, objectStore: set at most one of them/,
  );
};
