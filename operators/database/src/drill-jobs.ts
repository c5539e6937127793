import { CronJob, type EnvVar } from "konverge/kinds";
import { isStore, placeEnvironment, placeOf } from "./backup-place.ts";
import { besideServer } from "./backup-volume.ts";
import type { Database } from "./database.ts";
import { engineOf } from "./engines.ts";
import { drillName, metadataOf, podName } from "./names.ts";
import { fromSecret, taskJobSpec } from "./task-pod.ts";
import { isArchived } from "./wal-archive.ts";

/** On Jobs of restore drills and their pods: the Database. */
export const DRILL_OF = "database-drill";
const JOB_NAME = "batch.kubernetes.io/job-name";

/**
 * Restores the newest backup on a schedule into a volume that goes with the pod, and checks what came up. Nothing of the servers is
 * touched; it is done once, since a second attempt would hide what the first has found.
 */
export function drillScheduleFor(database: Database, { stopped, beside }: { stopped: boolean; beside: boolean }) {
  const { backup, size } = database.spec;
  const place = placeOf(database);
  if (!backup?.drill || !place || !isArchived(database) || engineOf(database).name !== "postgres") return [];
  const { drill } = backup;
  const text = (name: string, value: string): EnvVar => ({ name, value });
  const { name } = database.metadata;
  const task = {
    name: "drill",
    script: "restore.sh",
    env: [
      text("MODE", "drill"),
      { name: "NAME", valueFrom: { fieldRef: { fieldPath: `metadata.labels['${JOB_NAME}']` } } },
      ...(isStore(place) ? placeEnvironment(place, name, "BACKUPS") : placeEnvironment(place, name, "SOURCE")),
      text("PGDATA", `${engineOf(database).dataFolder}/pgdata`),
      ...["BACKUP", "TARGET_TIME", "TARGET_LSN", "TARGET_XID", "TARGET_TIMELINE", "ARCHIVE"].map((one) =>
        text(one, ""),
      ),
      text("IN_PLACE", "no"),
      text("DRILL", drill.target),
      text("QUERY", drill.query ?? ""),
      text("QUERY_DATABASE", drill.database),
      fromSecret(database, "USERNAME", "username"),
    ],
    backups: place,
    scratch: database.status?.storage ?? size,
    retries: 0,
    labels: { [DRILL_OF]: name },
    ...(beside && besideServer(podName(database))),
  };
  return [
    CronJob.draft({
      metadata: metadataOf(database, drillName(database)),
      spec: {
        schedule: drill.schedule,
        ...(drill.timeZone && { timeZone: drill.timeZone }),
        concurrencyPolicy: "Forbid",
        startingDeadlineSeconds: 3600,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 3,
        suspend: stopped,
        jobTemplate: { metadata: { labels: { [DRILL_OF]: name } }, spec: taskJobSpec(database, task) },
      },
    }),
  ];
}
