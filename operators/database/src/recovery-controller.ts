import {
  cacheKind,
  controller,
  isAlreadyExists,
  ownerReference,
  permission,
  type ReconcileContext,
  watchKind,
} from "konverge";
import { Job } from "konverge/kinds";
import { isExpired, SCHEDULED } from "./backup-controller.ts";
import { BACKUP_OF } from "./backup-jobs.ts";
import type { BackupMetrics } from "./backup-metrics.ts";
import { methodOf } from "./backup-volume.ts";
import { Database } from "./database.ts";
import { databaseErrors } from "./database-admission.ts";
import { DatabaseBackup } from "./database-backup.ts";
import { DatabaseRestore } from "./database-restore.ts";
import { DatabaseUpgrade } from "./database-upgrade.ts";
import { engineOf } from "./engines.ts";
import { backUpAfterGap } from "./gap-backup.ts";
import { backupName } from "./names.ts";
import { awaitsBootstrap, bootstrapName } from "./restore-hold.ts";
import { officialImage } from "./server-pod.ts";
import { majorChange, refusedVersion, rolledRelease, upgradeName } from "./version.ts";

/**
 * Creates the objects that follow from a Database's spec: a DatabaseBackup for each scheduled backup and after each gap in
 * the archive, the DatabaseRestore of its bootstrap backup, and the DatabaseUpgrade to another major version.
 */
export function databaseRecovery(metrics: BackupMetrics) {
  const ofDatabase = ({ metadata, spec }: DatabaseBackup | DatabaseRestore | DatabaseUpgrade) => [
    `${metadata.namespace}/${spec.database}`,
  ];
  return controller(Database, {
    name: "database-recovery",
    watches: [
      cacheKind(Database),
      watchKind<Job, Database>(Job, {
        labelSelector: BACKUP_OF,
        to: ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[BACKUP_OF]}`],
      }),
      watchKind<DatabaseBackup, Database>(DatabaseBackup, { to: ofDatabase }),
      watchKind<DatabaseRestore, Database>(DatabaseRestore, { to: ofDatabase }),
      watchKind<DatabaseUpgrade, Database>(DatabaseUpgrade, { to: ofDatabase }),
    ],
    permissions: [
      permission(DatabaseBackup, ["create"]),
      permission(DatabaseRestore, ["create"]),
      permission(DatabaseUpgrade, ["create"]),
    ],
    async reconcile(database, context) {
      const { cache } = context;
      metrics.update(database, cache.list(DatabaseBackup, database.metadata.namespace), () => cache.list(Database));
      // The Database controller reports problems of its spec.
      if (databaseErrors(database, undefined).length > 0) return undefined;
      await createScheduledBackups(database, context);
      await bootstrap(database, context);
      await requestUpgrade(database, context);
      const requeueAfter = await backUpAfterGap(database, context);
      return requeueAfter === undefined ? undefined : { requeueAfter };
    },
  });
}

async function createScheduledBackups(database: Database, { cache, client }: ReconcileContext): Promise<void> {
  const { name, namespace } = database.metadata;
  const method = methodOf(database);
  const known = cache.list(DatabaseBackup, namespace);
  for (const { metadata, status } of cache.list(Job, namespace)) {
    const owner = metadata.ownerReferences?.find(({ kind }) => kind === "CronJob");
    if (metadata.labels?.[BACKUP_OF] !== name || owner?.name !== backupName(database) || !method) continue;
    if (known.some((one) => one.metadata.name === metadata.name)) continue;
    // Jobs are remembered for longer than some backups are kept.
    const stoppedAt = status?.completionTime;
    if (stoppedAt && isExpired(metadata.name, name, { method, stoppedAt }, known)) continue;
    const labels = { [SCHEDULED]: "true", "database-name": name };
    const draft = {
      metadata: { name: metadata.name, namespace: namespace!, labels },
      spec: { database: name, method },
    };
    // Direct writes: backups and restores of a schedule outlive it: they are no children.
    await client.create(DatabaseBackup, draft).catch(unlessThere);
  }
}

async function bootstrap(database: Database, { cache, client }: ReconcileContext): Promise<void> {
  const { name, namespace } = database.metadata;
  if (!database.spec.bootstrap || !awaitsBootstrap(database)) return;
  if (cache.get(DatabaseRestore, `${namespace}/${bootstrapName(database)}`)) return;
  // It is garbage-collected with its database, but is not a child: it completes when the database is ready.
  const ownerReferences = [ownerReference(Database, database, { controller: false })];
  const metadata = { name: bootstrapName(database), namespace: namespace!, ownerReferences };
  const spec = { ...database.spec.bootstrap, database: name, inPlace: false };
  await client.create(DatabaseRestore, { metadata, spec }).catch(unlessThere);
}

/** Another major version is requested: its servers cannot read the data as they are. */
async function requestUpgrade(database: Database, { cache, client }: ReconcileContext): Promise<void> {
  if (!majorChange(database) || refusedVersion(database) !== undefined) return;
  const { name, namespace } = database.metadata;
  const { version, image } = database.spec;
  const upgrade = upgradeName(database);
  if (cache.get(DatabaseUpgrade, `${namespace}/${upgrade}`)) return;
  const imageOf = (one: string) => officialImage(engineOf(database), one);
  const to = { version, image: image ?? imageOf(version) };
  const ownerReferences = [ownerReference(Database, database, { controller: false })];
  const metadata = { name: upgrade, namespace: namespace!, ownerReferences };
  const spec = { database: name, from: rolledRelease(database, imageOf), to };
  await client.create(DatabaseUpgrade, { metadata, spec }).catch(unlessThere);
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
