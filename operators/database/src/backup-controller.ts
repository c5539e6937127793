import {
  cacheKind,
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  controller,
  findCondition,
  permission,
  type ReconcileContext,
  type ReconcileResult,
  watchKind,
} from "konverge";
import { Event, Job, PersistentVolumeClaim, Pod } from "konverge/kinds";
import { POD_PROBLEM_GRACE_MS, problemConditions, reportProblem } from "konverge/pods";
import { BACKUP_OF, backupJobFor, folderOf, whyImpossible } from "./backup-jobs.ts";
import { type BackupPlace, isStore, placeOf } from "./backup-place.ts";
import type { BackupMethod } from "./backup-spec.ts";
import { existingBackupClaim, isOfOneNode, methodOf } from "./backup-volume.ts";
import { Database } from "./database.ts";
import { DatabaseBackup } from "./database-backup.ts";
import { endedTask } from "./ended-task.ts";
import { storeAddress } from "./object-store.ts";
import { isReplica } from "./replica-source.ts";
import { heldForRestore } from "./restore-hold.ts";
import { reportOf, startJob } from "./task-jobs.ts";
import { jobEnd } from "./task-pod.ts";
import { taskProblem } from "./task-problem.ts";
import type { TaskReport } from "./task-report.ts";

/** On a DatabaseBackup that the operator has created for a scheduled backup. */
export const SCHEDULED = "databases.example.com/scheduled";
const JOB_NAME = "batch.kubernetes.io/job-name";

type Status = NonNullable<ReconcileResult<DatabaseBackup>["status"]>;

/** Takes the backup of a DatabaseBackup in a Job of the same name, and reports its outcome. */
export function databaseBackups() {
  // Backups by their database: a new backup may expire others.
  const siblings = new Map<string, Set<string>>();
  return controller(DatabaseBackup, {
    watches: [
      watchKind<Database, DatabaseBackup>(Database, {
        references: ({ metadata, spec }) => [`${metadata.namespace}/${spec.database}`],
      }),
      watchKind<DatabaseBackup, DatabaseBackup>(DatabaseBackup, {
        to: ({ metadata, spec }) => [...(siblings.get(`${metadata.namespace}/${spec.database}`) ?? [])],
      }),
      cacheKind(PersistentVolumeClaim),
      watchKind<Job, DatabaseBackup>(Job, {
        labelSelector: BACKUP_OF,
        to: ({ metadata }) => [`${metadata.namespace}/${metadata.name}`],
      }),
      watchKind<Pod, DatabaseBackup>(Pod, {
        labelSelector: BACKUP_OF,
        to: ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[JOB_NAME]}`],
      }),
    ],
    permissions: [
      permission(Job, ["get", "create"], { why: "runs each DatabaseBackup in a Job" }),
      permission(Pod, ["list"], { why: "reads why the pods of each DatabaseBackup failed" }),
      permission(DatabaseBackup, ["delete"]),
      permission(Event, ["list"]),
    ],
    async reconcile(backup, context): Promise<ReconcileResult<DatabaseBackup>> {
      const { metadata, spec, status } = backup;
      const ofDatabase = `${metadata.namespace}/${spec.database}`;
      const known = siblings.get(ofDatabase) ?? new Set();
      siblings.set(ofDatabase, known.add(`${metadata.namespace}/${metadata.name}`));
      if (status?.phase === "Completed") return expire(backup, context);
      if (status?.phase === "Failed" || status?.phase === "Expired") return endedTask(backup);
      return await take(backup, context);
    },
  });
}

async function take(backup: DatabaseBackup, context: ReconcileContext): Promise<ReconcileResult<DatabaseBackup>> {
  const { cache, events } = context;
  const { metadata, spec, status } = backup;
  const database = cache.get(Database, `${metadata.namespace}/${spec.database}`);
  const job = cache.get(Job, `${metadata.namespace}/${metadata.name}`);
  const method = spec.method ?? (database && methodOf(database));
  if (!database || !method) {
    return waits(backup, "NoDatabase", `there is no Database ${spec.database} with backups`, context);
  }
  const impossible = whyImpossible(database, method);
  if (impossible) return fails(backup, { method }, impossible, context);
  if (!job) {
    if (metadata.labels?.[SCHEDULED])
      return fails(backup, { method }, "its Job was deleted before it completed", context);
    const why = whyNotNow(database);
    if (why) return waits(backup, ...why, context);
    const beside = isOfOneNode(database, existingBackupClaim(database, context));
    await startJob(DatabaseBackup, backup, backupJobFor(backup, database, { method, beside }), context);
    events.normal("BackupStarted", `a ${method} backup of ${spec.database} is being taken`);
  }
  const place = placeOf(database);
  const facts: Status = { method, job: metadata.name, ...(place && whereabouts(place, backup, method)) };
  const end = jobEnd(job);
  if (!job || !end) {
    const problem = await taskProblem(job, context);
    reportProblem(backup, problem, events);
    const conditions = problem
      ? problemConditions(problem)
      : { Ready: conditionUnknown("Running", `job ${metadata.name} takes it`) };
    // No event reports that its pod is rejected or finds no node.
    return { status: { phase: "Running", ...facts }, conditions, requeueAfter: POD_PROBLEM_GRACE_MS };
  }
  const report = await reportOf(job, context);
  if (end === "failed") return fails(backup, facts, report["error"] ?? "its Job has failed", context);
  const message = facts.store
    ? `it is in ${facts.store}`
    : `it is in ${facts.folder} of the volume of claim ${facts.claim}`;
  if (status?.phase !== "Completed") events.normal("BackupCompleted", message);
  return {
    status: { phase: "Completed", ...facts, ...reportedStatus(report, job) },
    conditions: { Ready: conditionTrue("Completed", message) },
  };
}

/** Where a backup will be. */
function whereabouts(place: BackupPlace, { metadata, spec }: DatabaseBackup, method: BackupMethod): Status {
  if (isStore(place)) return { store: storeAddress(place.objectStore) };
  return { claim: place.claim, folder: folderOf(spec.database, method, metadata.name) };
}

/** What a backup's script has reported, and what its Job knows if there is no report. */
function reportedStatus(report: TaskReport, { status }: Job): Status {
  const { startLSN, stopLSN, size, host, kept, label } = report;
  const startedAt = report["started"] ?? status?.startTime;
  const stoppedAt = report["stopped"] ?? status?.completionTime;
  return {
    ...(startedAt && { startedAt }),
    ...(stoppedAt && { stoppedAt }),
    ...(startLSN && { startLSN }),
    ...(stopLSN && { stopLSN }),
    ...(size && { size: Number(size) }),
    ...(host && { server: host }),
    ...(label && { label }),
    ...(kept && { kept: kept.split(",") }),
  };
}

/** Why a backup cannot be taken now, though it can be later. */
function whyNotNow(database: Database): [reason: string, message: string] | undefined {
  const { name } = database.metadata;
  if (!database.spec.backup) return ["NoBackupVolume", `Database ${name} has no backups: set spec.backup`];
  if (database.spec.hibernated)
    return ["Hibernated", `the backup is taken when Database ${name} is no longer hibernated`];
  if (isReplica(database))
    return ["Following", `the backup is taken when Database ${name} is promoted: its source has backups until then`];
  const held = heldForRestore(database);
  if (held) return ["Restoring", `the backup is taken when Database ${name} is restored`];
  if (database.status?.phase !== "Running") return ["NotRunning", `the backup is taken when Database ${name} runs`];
  return undefined;
}

/** Reports why a backup cannot be taken yet; a change of that reason triggers the next reconcile. */
function waits(
  { status }: DatabaseBackup,
  reason: string,
  message: string,
  { events }: ReconcileContext,
): ReconcileResult<DatabaseBackup> {
  if (findCondition(status?.conditions, "Ready")?.reason !== reason) events.warning(reason, message);
  return { status: { phase: "Pending" }, conditions: { Ready: conditionFalse(reason, message) } };
}

function fails(
  backup: DatabaseBackup,
  facts: Status,
  error: string,
  { events }: ReconcileContext,
): ReconcileResult<DatabaseBackup> {
  if (backup.status?.phase !== "Failed") events.warning("BackupFailed", error);
  return {
    status: { phase: "Failed", ...facts, error },
    conditions: { Ready: conditionFalse("BackupFailed", error), Degraded: conditionTrue("BackupFailed", error) },
  };
}

/** Marks a backup as expired once a later one has removed its files. */
async function expire(backup: DatabaseBackup, context: ReconcileContext): Promise<ReconcileResult<DatabaseBackup>> {
  const { cache, client, events } = context;
  const { name, namespace, uid, labels } = backup.metadata;
  const expired = isExpired(name, backup.spec.database, backup.status ?? {}, cache.list(DatabaseBackup, namespace));
  if (!expired) return endedTask(backup);
  if (labels?.[SCHEDULED]) {
    // Direct write: an expired object deletes itself.
    await client.delete(DatabaseBackup, `${namespace}/${name}`, { preconditions: { uid: uid! } });
    return endedTask(backup);
  }
  const message = "it expired when a later backup was taken, by spec.backup of its Database";
  events.normal("BackupExpired", message);
  const { conditions: _, ...rest } = backup.status ?? {};
  return { status: { ...rest, phase: "Expired" }, conditions: { Ready: conditionFalse("Expired", message) } };
}

/** Whether the latest backup of the same database and method has expired the one with this name. */
export function isExpired(
  name: string,
  database: string,
  { method, stoppedAt = "" }: { method?: BackupMethod; stoppedAt?: string },
  all: readonly DatabaseBackup[],
): boolean {
  const [newest] = all
    .filter(({ spec, status }) => spec.database === database && status?.method === method && status?.kept !== undefined)
    .sort((a, b) => (b.status?.stoppedAt ?? "").localeCompare(a.status?.stoppedAt ?? ""));
  const { kept, stoppedAt: later = "" } = newest?.status ?? {};
  return kept !== undefined && later > stoppedAt && !kept.includes(name);
}
