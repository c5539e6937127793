import assert from "node:assert/strict";
import { Database, DatabaseBackup, DatabaseRestore, databaseOperator } from "@konverge/database-operator";
import { attachVolumes, type Scenario, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { CronJob, Job, PersistentVolumeClaim, Pod, StatefulSet } from "konverge/kinds";
import { sample } from "./scenarios.ts";

export const phaseOf = async (
  stage: TestEnvironment,
  kind: typeof DatabaseBackup | typeof DatabaseRestore,
  name: string,
) => (await stage.find(kind as typeof DatabaseRestore, name))?.status?.phase;
export const reaches = (
  stage: TestEnvironment,
  kind: typeof DatabaseBackup | typeof DatabaseRestore,
  name: string,
  phase: string,
) => stage.until(`${name} is ${phase}`, async () => (await phaseOf(stage, kind, name)) === phase);
export const runs = (stage: TestEnvironment, name: string) =>
  stage.until(`${name} runs`, async () => {
    const ready = (await stage.condition(Database, name, "Ready")) === "True Running";
    return ready && (await stage.list(Pod, `app=database,database-name=${name}`)).length > 0;
  });

/** Triggers another reconcile of an object. */
async function annotated(
  stage: TestEnvironment,
  kind: typeof DatabaseBackup | typeof DatabaseRestore,
  name: string,
): Promise<void> {
  const metadata = { annotations: { team: "ledger" } };
  await stage.client.patch(kind as typeof DatabaseRestore, `${stage.namespace}/${name}`, { merge: { metadata } });
  await stage.settled();
}

/** The outcome of tasks, by their mode (`backup` for backups): a hang, an error, or success by default. */
export type Outcomes = Record<string, "hangs" | { error: string } | undefined>;

/** Servers that run, and tasks with the given outcomes. Where nodes run nothing, tasks always succeed. */
export function play(stage: TestEnvironment, outcomes: Outcomes = {}, image = "postgres:16.4"): void {
  stage.cluster?.image(image, {
    async run({ container, stop, write }) {
      const stopped = new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      if (container.name === "database") return await stopped;
      const outcome = outcomes[container.name];
      if (outcome === "hangs") {
        await stopped;
        return 143;
      }
      if (!outcome) return 0;
      write(`error=${outcome.error}\n`);
      return 1;
    },
    // Servers answer; how they are doing they do not say.
    exec: async ({ command }) => (command.join(" ").includes("status.sh") ? 1 : 0),
  });
}

const [DATABASE = "", BACKUP = ""] = sample("backup").split("---\n");
const IN_PLACE = `apiVersion: example.com/v1
kind: DatabaseRestore
metadata:
  name: ledger-back
spec:
  database: postgres-ledger
  inPlace: true
`;

async function backedUp(stage: TestEnvironment, outcomes: Outcomes = {}, database = DATABASE): Promise<void> {
  await supplyVolumes(stage, "20Gi", "20Gi", "20Gi", "20Gi");
  play(stage, outcomes);
  await stage.start(databaseOperator);
  await stage.apply(database);
  await runs(stage, "postgres-ledger");
}

/** A requested backup is taken and reported. */
export const onDemand: Scenario = async (stage) => {
  await backedUp(stage);
  await stage.apply(BACKUP);
  await reaches(stage, DatabaseBackup, "ledger-before-migration", "Completed");
  const { status } = await stage.get(DatabaseBackup, "ledger-before-migration");
  assert.equal(status?.method, "physical");
  assert.equal(status?.claim, "postgres-ledger-backup");
  assert.equal(status?.folder, "postgres-ledger/base/ledger-before-migration");
  assert.ok(status?.stoppedAt);
  const { spec } = await stage.get(Job, "ledger-before-migration");
  const pod = spec!.template.spec!;
  assert.deepEqual(pod.containers[0]!.command, ["sh", "/scripts/backup.sh"]);
  assert.equal(pod.securityContext?.runAsUser, 999);
  const term = pod.affinity!.podAffinity!.requiredDuringSchedulingIgnoredDuringExecution![0]!;
  assert.equal(term.labelSelector!.matchLabels!["statefulset.kubernetes.io/pod-name"], "postgres-ledger-0");
  // The servers archive onto the same volume.
  const server = (await stage.get(StatefulSet, "postgres-ledger")).spec!.template.spec!;
  assert.ok(server.volumes!.some((one) => one.persistentVolumeClaim?.claimName === "postgres-ledger-backup"));
  await stage.settled();
};

/** Scheduled backups get DatabaseBackups, which are deleted with their folder; others stay and are marked as expired. */
export const scheduled: Scenario = async (stage) => {
  await backedUp(stage, {}, DATABASE.replace('"0 3 * * *"', '"* * * * *"'));
  await stage.apply(BACKUP);
  await reaches(stage, DatabaseBackup, "ledger-before-migration", "Completed");
  const scheduledBackups = () => stage.list(DatabaseBackup, "databases.example.com/scheduled=true");
  await stage.until(
    "two scheduled ones are reported",
    async () => {
      const completed = (await scheduledBackups()).filter(({ status }) => status?.phase === "Completed");
      return completed.length >= 2;
    },
    300_000,
  );
  await stage.client.patch(Database, `${stage.namespace}/postgres-ledger`, {
    merge: { spec: { backup: { schedule: "0 3 1 1 *" } } },
  });
  await stage.settled();
  const all = (await scheduledBackups()).toSorted((a, b) => a.status!.stoppedAt!.localeCompare(b.status!.stoppedAt!));
  const newest = all.at(-1)!;
  // What the script of the newest would report.
  await stage.client.patch(
    DatabaseBackup,
    `${stage.namespace}/${newest.metadata.name}`,
    { merge: { status: { kept: [newest.metadata.name] } } },
    { subresource: "status" },
  );
  await stage.until("only the newest remains", async () => (await scheduledBackups()).length === 1);
  await reaches(stage, DatabaseBackup, "ledger-before-migration", "Expired");
  await stage.settled();
  assert.deepEqual(
    (await scheduledBackups()).map(({ metadata }) => metadata.name),
    [newest.metadata.name],
  );
};

/** A failed backup reports the reason once, and is not retried forever. */
export const backupFails: Scenario = async (stage) => {
  await backedUp(stage, { backup: { error: "the server postgres-ledger did not give a backup" } });
  await stage.apply(BACKUP);
  await stage.until(
    "it has failed",
    async () => (await phaseOf(stage, DatabaseBackup, "ledger-before-migration")) === "Failed",
    3_600_000,
  );
  const { status } = await stage.get(DatabaseBackup, "ledger-before-migration");
  assert.equal(status?.error, "the server postgres-ledger did not give a backup");
  assert.match(
    (await stage.events(DatabaseBackup, "ledger-before-migration")).join("\n"),
    /BackupFailed.*did not give/,
  );
  await quiet(stage);
  await annotated(stage, DatabaseBackup, "ledger-before-migration");
  assert.equal(await stage.condition(DatabaseBackup, "ledger-before-migration", "Ready"), "False BackupFailed");
};

/** The backup replaces the data while no server runs; standbys are recreated. */
export const restoresInPlace: Scenario = async (stage) => {
  await backedUp(stage, {}, DATABASE.replace("size: 5Gi", "size: 5Gi\n  instances: 2"));
  const claims = async () =>
    Object.fromEntries((await stage.list(PersistentVolumeClaim)).map(({ metadata }) => [metadata.name, metadata.uid]));
  const [before, pod] = [await claims(), (await stage.get(Pod, "postgres-ledger-0")).metadata.uid];
  await stage.apply(IN_PLACE);
  await reaches(stage, DatabaseRestore, "ledger-back", "Completed");
  await runs(stage, "postgres-ledger");
  const { status } = await stage.get(DatabaseRestore, "ledger-back");
  assert.deepEqual(
    status?.steps?.map(({ state }) => state),
    ["done", "done", "done", "done", "done"],
  );
  assert.equal(status?.primary, "postgres-ledger-0");
  const after = await claims();
  assert.equal(after["data-postgres-ledger-0"], before["data-postgres-ledger-0"], "the volume is the same");
  assert.notEqual(after["data-postgres-ledger-1"], before["data-postgres-ledger-1"], "the standby's is a new one");
  assert.notEqual((await stage.get(Pod, "postgres-ledger-0")).metadata.uid, pod, "the server was restarted");
  const job = (await stage.get(Job, "ledger-back-restore")).spec!.template.spec!;
  assert.ok(job.volumes!.some((one) => one.persistentVolumeClaim?.claimName === "data-postgres-ledger-0"));
  const { annotations } = (await stage.get(Database, "postgres-ledger")).metadata;
  assert.equal(annotations?.["databases.example.com/restoring"], undefined);
  await stage.settled();
};

/** The same, with an event for each step. A crash of the operator can lose an event. */
export const reportsSteps: Scenario = async (stage) => {
  await restoresInPlace(stage);
  const events = (await stage.events(DatabaseRestore, "ledger-back")).join("\n");
  for (const step of ["Checking", "Stopping", "Restoring", "Starting", "Finishing", "Completed"]) {
    assert.match(events, new RegExp(step));
  }
};

/** What cannot be restored is refused while the servers run; what fails later is undone. */
export const restoreFails: Scenario = async (stage) => {
  const outcomes: Outcomes = { check: { error: "the target lies before the first backup: possible is now and later" } };
  await backedUp(stage, outcomes);
  const pod = (await stage.get(Pod, "postgres-ledger-0")).metadata.uid;
  await stage.apply(IN_PLACE);
  await stage.until(
    "it has failed",
    async () => (await phaseOf(stage, DatabaseRestore, "ledger-back")) === "Failed",
    3_600_000,
  );
  assert.match((await stage.get(DatabaseRestore, "ledger-back")).status?.error ?? "", /possible is now and later/);
  assert.equal((await stage.get(Pod, "postgres-ledger-0")).metadata.uid, pod, "the server was not touched");
  outcomes["check"] = undefined;
  outcomes["restore"] = { error: "the backup did not come up" };
  await stage.apply(IN_PLACE.replace("ledger-back", "ledger-again"));
  await stage.until(
    "it has failed, too",
    async () => (await phaseOf(stage, DatabaseRestore, "ledger-again")) === "Failed",
    3_600_000,
  );
  assert.match((await stage.get(DatabaseRestore, "ledger-again")).status?.error ?? "", /did not come up/);
  assert.ok((await stage.get(Job, "ledger-again-undo")).status?.succeeded, "what was there was put back");
  await runs(stage, "postgres-ledger");
  await quiet(stage);
  await annotated(stage, DatabaseRestore, "ledger-again");
  assert.equal(await stage.condition(DatabaseRestore, "ledger-again", "Ready"), "False RestoreFailed");
};

/** A restore that is deleted leaves the database as it was, however far it has come. */
export const restoreDeleted: Scenario = async (stage) => {
  const outcomes: Outcomes = {};
  await backedUp(stage, outcomes);
  const untouched = (await stage.get(Pod, "postgres-ledger-0")).metadata.uid;
  const deleted = async (name: string) => {
    await stage.client.delete(DatabaseRestore, `${stage.namespace}/${name}`);
    await stage.until(`${name} is deleted`, async () => (await stage.find(DatabaseRestore, name)) === undefined);
    await runs(stage, "postgres-ledger");
    const { annotations } = (await stage.get(Database, "postgres-ledger")).metadata;
    assert.equal(annotations?.["databases.example.com/restoring"], undefined);
  };
  outcomes["check"] = "hangs";
  await stage.apply(IN_PLACE.replace("ledger-back", "checking"));
  await reaches(stage, DatabaseRestore, "checking", "Checking");
  await deleted("checking");
  assert.equal((await stage.get(Pod, "postgres-ledger-0")).metadata.uid, untouched);

  outcomes["check"] = undefined;
  outcomes["restore"] = outcomes["undo"] = "hangs";
  await stage.apply(IN_PLACE.replace("ledger-back", "restoring"));
  await reaches(stage, DatabaseRestore, "restoring", "Restoring");
  await stage.until("a pod restores", async () =>
    (await stage.list(Pod, "database-restore=restoring")).some(({ status }) => status?.phase === "Running"),
  );
  await stage.client.delete(DatabaseRestore, `${stage.namespace}/restoring`);
  const at = (part: string) => stage.list(Pod, `batch.kubernetes.io/job-name=restoring-${part}`);
  await stage.until("the old data are being restored", async () => (await at("undo")).length > 0);
  assert.equal((await at("restore")).length, 0, "no restore is running any more");
  assert.equal((await stage.list(Pod, "app=database")).length, 0, "no server runs");
  outcomes["undo"] = undefined;
  for (const { metadata } of await at("undo")) await stage.client.delete(Pod, `${stage.namespace}/${metadata.name}`);
  await stage.until("it is deleted", async () => (await stage.find(DatabaseRestore, "restoring")) === undefined);
  await runs(stage, "postgres-ledger");

  // In the end the old data are being removed: there is no way back, and it is waited for.
  outcomes["restore"] = undefined;
  outcomes["finish"] = "hangs";
  await stage.apply(IN_PLACE.replace("ledger-back", "finishing"));
  await reaches(stage, DatabaseRestore, "finishing", "Finishing");
  await stage.client.delete(DatabaseRestore, `${stage.namespace}/finishing`);
  await stage.until(
    "it reports what it waits for",
    async () => (await stage.condition(DatabaseRestore, "finishing", "Ready")) === "False CleaningUp",
  );
  outcomes["finish"] = undefined;
  for (const { metadata } of await stage.list(Pod, "batch.kubernetes.io/job-name=finishing-finish")) {
    await stage.client.delete(Pod, `${metadata.namespace}/${metadata.name}`);
  }
  await stage.until("it is deleted", async () => (await stage.find(DatabaseRestore, "finishing")) === undefined);
  await runs(stage, "postgres-ledger");
};

/** A Job of a restore is started again when it is deleted, in each phase. */
export const restoreRepaired: Scenario = async (stage) => {
  const outcomes: Outcomes = { check: "hangs", restore: "hangs", finish: "hangs" };
  await backedUp(stage, outcomes);
  await stage.apply(IN_PLACE);
  for (const part of ["check", "restore", "finish"]) {
    const job = () => stage.find(Job, `ledger-back-${part}`);
    await stage.until(`the Job for ${part} is there`, async () => (await job()) !== undefined);
    const first = (await job())!.metadata.uid;
    await stage.client.delete(Job, `${stage.namespace}/ledger-back-${part}`);
    outcomes[part] = undefined;
    await stage.until("another does it", async () => {
      const uid = (await job())?.metadata.uid;
      return uid !== undefined && uid !== first;
    });
  }
  await reaches(stage, DatabaseRestore, "ledger-back", "Completed");
  await runs(stage, "postgres-ledger");
  await quiet(stage);
};

/** A new database begins with the backup of another, and no server of it runs before; the other is restored in place. */
export const bootstraps: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi", "20Gi", "20Gi");
  play(stage);
  await stage.start(databaseOperator);
  const documents = sample("restore").split("\n---\n");
  await stage.apply(documents.slice(0, -1).join("\n---\n"));
  await reaches(stage, DatabaseRestore, "postgres-books-copy-bootstrap", "Completed");
  // Before, its servers may be stopped or not while the copy is made, and the copy's pod is beside them or not.
  await stage.apply(documents.at(-1)!);
  await reaches(stage, DatabaseRestore, "books-back", "Completed");
  await runs(stage, "postgres-books-copy");
  await runs(stage, "postgres-books");
  const { spec, status } = await stage.get(Job, "postgres-books-copy-bootstrap-restore");
  const pod = spec!.template.spec!;
  const env = Object.fromEntries(pod.containers[0]!.env!.map(({ name, value }) => [name, value]));
  assert.equal(env["SOURCE"], "/backups/postgres-books");
  assert.equal(env["BACKUP"], "books-first");
  assert.equal(env["IN_PLACE"], "no");
  const claims = pod.volumes!.flatMap((one) => one.persistentVolumeClaim?.claimName ?? []).sort();
  assert.deepEqual(claims, ["data-postgres-books-copy-0", "postgres-books-backup"]);
  const { metadata } = await stage.get(Pod, "postgres-books-copy-0");
  assert.ok(metadata.creationTimestamp! >= status!.completionTime!, "the server came after its data");
  await stage.settled();
};

/** Backups outlive their database, and another one can begin with them. */
export const backupsOutlive: Scenario = async (stage) => {
  await backedUp(stage);
  await stage.client.delete(Database, `${stage.namespace}/postgres-ledger`);
  await stage.until("it is deleted", async () => (await stage.find(Database, "postgres-ledger")) === undefined);
  await stage.settled();
  const { metadata } = await stage.get(PersistentVolumeClaim, "postgres-ledger-backup");
  assert.equal(metadata.ownerReferences, undefined);
  const from = { database: "postgres-ledger", claim: "postgres-ledger-backup" };
  await stage.apply({
    apiVersion: "example.com/v1",
    kind: "Database",
    metadata: { name: "postgres-heir" },
    spec: { version: "16.4", size: "5Gi", bootstrap: { from } },
  });
  await reaches(stage, DatabaseRestore, "postgres-heir-bootstrap", "Completed");
  await runs(stage, "postgres-heir");
};

/** Volumes that are attached to one node at a time: pods that share one run on the same node, and all others are free. */
export const attachedBackups: Scenario = async (stage) => {
  await attachVolumes(stage);
  const backup = "backup:\n    accessMode: ReadWriteOnce";
  await backedUp(stage, {}, DATABASE.replace("size: 5Gi", "size: 5Gi\n  instances: 3").replace("backup:", backup));
  const nodesOf = async (name: string) =>
    new Set((await stage.list(Pod, `app=database,database-name=${name}`)).map(({ spec }) => spec?.nodeName));
  assert.equal((await nodesOf("postgres-ledger")).size, 1);
  await stage.apply(BACKUP);
  await reaches(stage, DatabaseBackup, "ledger-before-migration", "Completed");

  const from = { database: "postgres-ledger", claim: "postgres-ledger-backup" };
  await stage.apply({
    apiVersion: "example.com/v1",
    kind: "Database",
    metadata: { name: "postgres-copy" },
    spec: {
      version: "16.4",
      size: "5Gi",
      bootstrap: { from },
      // Not where the backups are.
      template: { spec: { affinity: { podAntiAffinity: awayFrom("postgres-ledger") } } },
    },
  });
  await reaches(stage, DatabaseRestore, "postgres-copy-bootstrap", "Completed");
  await runs(stage, "postgres-copy");
};

const awayFrom = (name: string) => {
  const labelSelector = { matchLabels: { app: "database", "database-name": name } };
  return { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: "kubernetes.io/hostname" }] };
};

/** Two restores of one database: one after the other. */
export const oneAtATime: Scenario = async (stage) => {
  const outcomes: Outcomes = { restore: "hangs" };
  await backedUp(stage, outcomes);
  await stage.apply(IN_PLACE);
  await reaches(stage, DatabaseRestore, "ledger-back", "Restoring");
  await stage.apply(IN_PLACE.replace("ledger-back", "second"));
  await stage.apply(BACKUP);
  await stage.until(
    "the second waits",
    async () => (await stage.condition(DatabaseRestore, "second", "Ready")) === "False AnotherRestore",
  );
  await stage.until(
    "a backup waits as well",
    async () => (await stage.condition(DatabaseBackup, "ledger-before-migration", "Ready")) === "False Restoring",
  );
  assert.equal((await stage.get(CronJob, "postgres-ledger-backup")).spec?.suspend, true);
  outcomes["restore"] = undefined;
  await stage.client.delete(DatabaseRestore, `${stage.namespace}/ledger-back`);
  await reaches(stage, DatabaseRestore, "second", "Completed");
  await reaches(stage, DatabaseBackup, "ledger-before-migration", "Completed");
};

/** No write when there is nothing to do. */
async function quiet(stage: TestEnvironment): Promise<void> {
  await stage.settled();
  const writes = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), writes);
}

/** The Database cannot be written at the moment when its servers may start again. */
export const releaseConflicts: Scenario = async (stage) => {
  await backedUp(stage, { restore: { error: "the backup did not come up" } });
  let conflicts = 0;
  stage.injectFault(async (request, next) => {
    const releases =
      request.method === "PATCH" && String(request.body).includes('"databases.example.com/restoring":null');
    if (!releases || conflicts > 0) return next(request);
    conflicts++;
    const body = JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Conflict", code: 409 });
    return { status: 409, headers: { "content-type": "application/json" }, body };
  });
  await stage.apply(IN_PLACE);
  await reaches(stage, DatabaseRestore, "ledger-back", "Failed");
  await runs(stage, "postgres-ledger");
  assert.equal(conflicts, 1);
};
