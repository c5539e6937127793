import type { CronJob, PersistentVolumeClaim } from "konverge/kinds";
import type { Database } from "./database.ts";
import type { Engine } from "./engines.ts";
import { backupName, metadataOf, secretName } from "./names.ts";

const FOLDER = "/backups";

/**
 * What a backup runs, in a shell of the engine's own image. A dump is written beside the others under a name that says when,
 * and only whole ones get that name; the oldest go when there are more than KEEP.
 */
const SCRIPTS: Readonly<Record<Engine["name"], string>> = {
  postgres: [
    "set -eu",
    'target="$FOLDER/$(date -u +%Y%m%dT%H%M%SZ).dump"',
    'PGPASSWORD="$PASSWORD" pg_dumpall -h "$HOST" -p "$PORT" -U "$USERNAME" --clean --if-exists > "$target.partial"',
    'mv "$target.partial" "$target"',
    'ls -1 "$FOLDER"/*.dump | sort -r | tail -n +$((KEEP + 1)) | xargs -r rm --',
    'echo "wrote $target"',
  ].join("\n"),
  mysql: [
    "set -eu",
    'target="$FOLDER/$(date -u +%Y%m%dT%H%M%SZ).dump"',
    'MYSQL_PWD="$PASSWORD" mysqldump -h "$HOST" -P "$PORT" -u "$USERNAME" --all-databases --single-transaction > "$target.partial"',
    'mv "$target.partial" "$target"',
    'ls -1 "$FOLDER"/*.dump | sort -r | tail -n +$((KEEP + 1)) | xargs -r rm --',
    'echo "wrote $target"',
  ].join("\n"),
};

/** Takes backups on a schedule, one at a time, onto a volume of their own. */
export function backupsFor(database: Database, engine: Engine): (CronJob | PersistentVolumeClaim)[] {
  const { backup, version, image, storageClass } = database.spec;
  if (!backup) return [];
  const metadata = metadataOf(database, backupName(database));
  const secret = (name: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: secretName(database), key } },
  });
  const claim: PersistentVolumeClaim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata,
    spec: {
      accessModes: ["ReadWriteOnce"],
      ...(storageClass && { storageClassName: storageClass }),
      resources: { requests: { storage: String(backup.size) } },
    },
  };
  const job: CronJob = {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata,
    spec: {
      schedule: backup.schedule,
      ...(backup.timeZone && { timeZone: backup.timeZone }),
      concurrencyPolicy: "Forbid",
      startingDeadlineSeconds: 3600,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 3,
      suspend: database.spec.hibernated ?? false,
      jobTemplate: {
        spec: {
          backoffLimit: 3,
          template: {
            metadata: { labels: { "database-backup": database.metadata.name } },
            spec: {
              restartPolicy: "Never",
              containers: [
                {
                  name: "backup",
                  image: image ?? `${engine.name}:${version}`,
                  command: ["sh", "-c", SCRIPTS[engine.name]],
                  env: [
                    secret("HOST", "host"),
                    secret("PORT", "port"),
                    secret("USERNAME", "username"),
                    secret("PASSWORD", "password"),
                    { name: "FOLDER", value: FOLDER },
                    { name: "KEEP", value: String(backup.keep) },
                  ],
                  volumeMounts: [{ name: "backups", mountPath: FOLDER }],
                },
              ],
              volumes: [{ name: "backups", persistentVolumeClaim: { claimName: backupName(database) } }],
            },
          },
        },
      },
    },
  };
  return [claim, job];
}
