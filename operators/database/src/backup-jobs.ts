import { CronJob, type EnvVar, Job } from "konverge/kinds";
import { type BackupPlace, isStore, placeEnvironment, placeOf } from "./backup-place.ts";
import { type BackupMethod, spanSeconds } from "./backup-spec.ts";
import { besideServer, methodOf } from "./backup-volume.ts";
import type { Database } from "./database.ts";
import type { DatabaseBackup } from "./database-backup.ts";
import { engineOf } from "./engines.ts";
import { backupName, DATA, metadataOf, podName, podsServiceName, readServiceName } from "./names.ts";
import { hasSuperuserAccess } from "./superuser.ts";
import { fromSecret, type Task, taskJobSpec } from "./task-pod.ts";

/** On Jobs of backups and their pods: the Database. */
export const BACKUP_OF = "database-backup";
const JOB_NAME = "batch.kubernetes.io/job-name";
const RETRIES = 3;

/** A backup's folder on its volume. */
export const folderOf = (database: string, method: BackupMethod, name: string) =>
  `${database}/${method === "physical" ? "base" : "dumps"}/${name}`;

/** Takes a backup whose name is that of the Job; `beside`: only on the node of the servers, which have the volume. */
function backupTask(database: Database, method: BackupMethod, beside: boolean): Task {
  const { instances } = database.spec;
  const place = placeOf(database);
  if (place && isStore(place)) return storeTask(database, place);
  const physical = method === "physical";
  const env: EnvVar[] = [
    fromSecret(database, "HOST", "host"),
    fromSecret(database, "PORT", "port"),
    // Only a replication role may copy files, and only the administrator sees all that belongs into a dump.
    ...(physical ? [{ name: "USERNAME", value: "replicator" }] : [fromSecret(database, "USERNAME", "username")]),
    fromSecret(database, "PASSWORD", physical ? "replication-password" : "password"),
    ...(physical ? [{ name: "STANDBY_HOST", value: instances > 1 ? readServiceName(database) : "" }] : []),
    nameOfJob,
    ...(place ? placeEnvironment(place, database.metadata.name, "BACKUPS") : []),
    ...retention(database),
  ];
  return {
    name: "backup",
    script: physical ? "backup.sh" : "backup-dump.sh",
    env,
    backups: place,
    retries: RETRIES,
    labels: { [BACKUP_OF]: database.metadata.name },
    ...(physical && beside && besideServer(podName(database))),
  };
}

/**
 * The same for an object store. pgBackRest reads the files of the primary itself, so it runs on that node and has its volume; what
 * it reads is made a backup by the server, to which it connects.
 */
function storeTask(database: Database, place: BackupPlace): Task {
  const { name, namespace } = database.metadata;
  const primary = database.status?.podName ?? podName(database);
  return {
    name: "backup",
    script: "pgbackrest-backup.sh",
    env: [
      { name: "HOST", value: `${primary}.${podsServiceName(database)}.${namespace}.svc` },
      fromSecret(database, "PORT", "port"),
      { name: "USERNAME", value: "replicator" },
      fromSecret(database, "PASSWORD", "replication-password"),
      nameOfJob,
      { name: "PGDATA", value: `${engineOf(database).dataFolder}/pgdata` },
      ...placeEnvironment(place, name, "BACKUPS"),
      ...retention(database),
    ],
    backups: place,
    data: `${DATA}-${primary}`,
    reads: true,
    retries: RETRIES,
    labels: { [BACKUP_OF]: name },
    ...besideServer(primary),
  };
}

const nameOfJob: EnvVar = { name: "NAME", valueFrom: { fieldRef: { fieldPath: `metadata.labels['${JOB_NAME}']` } } };

const retention = ({ spec: { backup } }: Database): EnvVar[] => [
  { name: "KEEP", value: String(backup?.keep ?? 1) },
  { name: "KEEP_FOR", value: backup?.keepFor ? String(spanSeconds(backup.keepFor)) : "" },
];

/** The Job of a backup on demand. */
export function backupJobFor(
  backup: DatabaseBackup,
  database: Database,
  { method, beside }: { method: BackupMethod; beside: boolean },
) {
  const { name, namespace } = backup.metadata;
  return Job.draft({
    metadata: { name, namespace, labels: { [BACKUP_OF]: database.metadata.name } },
    spec: taskJobSpec(database, backupTask(database, method, beside)),
  });
}

/** Takes backups on a schedule, one at a time; none while the servers do not run. */
export function backupScheduleFor(database: Database, { stopped, beside }: { stopped: boolean; beside: boolean }) {
  const { backup } = database.spec;
  const method = methodOf(database);
  if (!backup?.schedule || !method || whyImpossible(database, method)) return [];
  return [
    CronJob.draft({
      metadata: metadataOf(database, backupName(database)),
      spec: {
        schedule: backup.schedule,
        ...(backup.timeZone && { timeZone: backup.timeZone }),
        concurrencyPolicy: "Forbid",
        startingDeadlineSeconds: 3600,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 3,
        suspend: stopped,
        jobTemplate: {
          metadata: { labels: { [BACKUP_OF]: database.metadata.name } },
          spec: taskJobSpec(database, backupTask(database, method, beside)),
        },
      },
    }),
  ];
}

/** Why there can be no such backup: files are copied of PostgreSQL alone, and dumps are the superuser's, on volumes alone. */
export function whyImpossible(database: Database, method: BackupMethod): string | undefined {
  if (method === "physical" && engineOf(database).name !== "postgres")
    return "only postgres has physical backups: set method to logical";
  if (method === "logical" && !hasSuperuserAccess(database))
    return "dumps are taken by the superuser: set enableSuperuserAccess of the Database to true, or method to physical";
  const place = placeOf(database);
  if (method === "logical" && place && isStore(place))
    return "dumps are kept on volumes only, and the backups of this Database in an object store: set method to physical";
  return undefined;
}
