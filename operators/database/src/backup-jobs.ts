import { CronJob, type EnvVar, Job } from "konverge/kinds";
import { type BackupMethod, spanSeconds } from "./backup-spec.ts";
import { backupClaimName, backupFolder, besideServer, methodOf } from "./backup-volume.ts";
import type { Database } from "./database.ts";
import type { DatabaseBackup } from "./database-backup.ts";
import { engineOf } from "./engines.ts";
import { backupName, metadataOf, podName, readServiceName } from "./names.ts";
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
  const { backup, instances } = database.spec;
  const physical = method === "physical";
  const env: EnvVar[] = [
    fromSecret(database, "HOST", "host"),
    fromSecret(database, "PORT", "port"),
    // Only a replication role may copy files, and only the administrator sees all that belongs into a dump.
    ...(physical ? [{ name: "USERNAME", value: "replicator" }] : [fromSecret(database, "USERNAME", "username")]),
    fromSecret(database, "PASSWORD", physical ? "replication-password" : "password"),
    ...(physical ? [{ name: "STANDBY_HOST", value: instances > 1 ? readServiceName(database) : "" }] : []),
    { name: "NAME", valueFrom: { fieldRef: { fieldPath: `metadata.labels['${JOB_NAME}']` } } },
    { name: "BACKUPS", value: backupFolder(database.metadata.name) },
    { name: "KEEP", value: String(backup?.keep ?? 1) },
    { name: "KEEP_FOR", value: backup?.keepFor ? String(spanSeconds(backup.keepFor)) : "" },
  ];
  return {
    name: "backup",
    script: physical ? "backup.sh" : "backup-dump.sh",
    env,
    backups: backupClaimName(database),
    retries: RETRIES,
    labels: { [BACKUP_OF]: database.metadata.name },
    ...(physical && beside && besideServer(podName(database))),
  };
}

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
  if (!backup?.schedule || !method || isImpossible(database, method)) return [];
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

/** Files are copied and WAL is archived of PostgreSQL alone. */
export const isImpossible = (database: Database, method: BackupMethod) =>
  method === "physical" && engineOf(database).name !== "postgres";
