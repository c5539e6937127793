import {
  controller,
  isAlreadyExists,
  permission,
  type ReconcileContext,
  type ReconcileResult,
  watchKind,
} from "konverge";
import { Event, Job, PersistentVolumeClaim, Pod, StatefulSet } from "konverge/kinds";
import { isControlledBy } from "konverge/objects";
import { POD_PROBLEM_GRACE_MS, reportProblem, type WorkloadProblem } from "konverge/pods";
import { isStore } from "./backup-place.ts";
import { Database } from "./database.ts";
import { DatabaseBackup } from "./database-backup.ts";
import { DatabaseRestore } from "./database-restore.ts";
import { endedTask } from "./ended-task.ts";
import { engineOf } from "./engines.ts";
import { ignoreMissing } from "./ignore-missing.ts";
import { labelsOf } from "./names.ts";
import { isReplica } from "./replica-source.ts";
import { awaitsBootstrap, BOOTSTRAPPED, RESTORING } from "./restore-hold.ts";
import {
  dataClaimOf,
  planOf,
  RESTORE_OF,
  RESTORE_PARTS,
  type RestorePart,
  type RestorePlan,
  restoreJobFor,
  restoreJobName,
} from "./restore-jobs.ts";
import { nextMove, type PartState, type RestoreFacts, type RestoreMove, undoMove } from "./restore-progress.ts";
import { failed, moved, pending, recordMove } from "./restore-status.ts";
import { areStopped, deleteClaims, isServerReady, otherClaims } from "./stopped-servers.ts";
import { hasSuperuserAccess } from "./superuser.ts";
import { reportOf, startJob } from "./task-jobs.ts";
import { dataClaimFor, jobEnd } from "./task-pod.ts";
import { taskProblem } from "./task-problem.ts";
import type { TaskReport } from "./task-report.ts";
import { UPGRADING } from "./version.ts";

const DATABASE = "database-name";

/** Brings backups back: checks, stops the servers, restores beside the old data, starts, and only then lets those go. */
export function databaseRestores() {
  // Restores in progress by their Database, to reconcile them when its servers start and stop.
  const under = new Map<string, Set<string>>();
  const ofServer = ({ metadata: { namespace, labels } }: Pod | PersistentVolumeClaim | StatefulSet) => {
    const restore = labels?.[RESTORE_OF];
    return restore ? [`${namespace}/${restore}`] : [...(under.get(`${namespace}/${labels?.[DATABASE]}`) ?? [])];
  };
  return controller(DatabaseRestore, {
    watches: [
      watchKind<Database, DatabaseRestore>(Database, {
        references: ({ metadata, spec }) =>
          [spec.database, spec.from?.database ?? spec.database].map((name) => `${metadata.namespace}/${name}`),
      }),
      watchKind<DatabaseBackup, DatabaseRestore>(DatabaseBackup, {
        references: ({ metadata, spec }) => (spec.from?.backup ? [`${metadata.namespace}/${spec.from.backup}`] : []),
      }),
      watchKind<Job, DatabaseRestore>(Job, {
        labelSelector: RESTORE_OF,
        to: ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[RESTORE_OF]}`],
      }),
      watchKind<Pod, DatabaseRestore>(Pod, { labelSelector: DATABASE, to: ofServer }),
      watchKind<StatefulSet, DatabaseRestore>(StatefulSet, { labelSelector: DATABASE, to: ofServer }),
      watchKind<PersistentVolumeClaim, DatabaseRestore>(PersistentVolumeClaim, {
        labelSelector: DATABASE,
        to: ofServer,
      }),
    ],
    permissions: [
      permission(Job, ["get", "create", "patch"], { why: "runs each DatabaseRestore in Jobs" }),
      permission(Pod, ["list"], { why: "reads why the pods of each DatabaseRestore failed" }),
      permission(PersistentVolumeClaim, ["create", "delete"], {
        why: "creates the volume that each DatabaseRestore writes to, and replaces one that is of no use",
      }),
      permission(Database, ["patch"]),
      permission(Event, ["list"]),
    ],
    finalizer: "databases.example.com/restore",
    async reconcile(restore, context): Promise<ReconcileResult<DatabaseRestore>> {
      const { phase } = restore.status ?? {};
      const key = `${restore.metadata.namespace}/${restore.metadata.name}`;
      const ofDatabase = `${restore.metadata.namespace}/${restore.spec.database}`;
      under.set(ofDatabase, (under.get(ofDatabase) ?? new Set()).add(key));
      if (phase === "Completed" || phase === "Failed") return endedTask(restore);
      const database = databaseOf(restore, context);
      const plan = database && planFor(restore, database, context);
      const why = whyNot(restore, database, plan, context);
      if (why) return (why.fatal ? failed : pending)(restore, why.reason, why.message, context);
      const facts = factsOf(plan!, context);
      const move = nextMove(facts);
      await carryOut(plan!, move, context);
      const reports = await reportsOf(plan!, context);
      const problem = await partProblem(restore, facts, context);
      recordMove(restore, move, reports, context.events);
      reportProblem(restore, problem, context.events);
      const isOver = move.phase === "Completed" || move.phase === "Failed";
      // No event reports that a pod is rejected or finds no node.
      return {
        ...moved(plan!, move, reports, problem, context.clock),
        ...(!isOver && { requeueAfter: POD_PROBLEM_GRACE_MS }),
      };
    },
    async cleanup(restore, context) {
      const { phase } = restore.status ?? {};
      const database = databaseOf(restore, context);
      const plan = database && planFor(restore, database, context);
      // Without its Database there is nothing to put back; Jobs go with the object.
      if (!plan || (phase === "Completed" && !isHolder(restore, database))) return undefined;
      const facts = factsOf(plan, context);
      const isAtWork = facts.parts.restore === "working" && !facts.parts.undo;
      if (isAtWork && !(await isStopped(restore, context))) return { waitingFor: "the restoring pod to stop" };
      const move = undoMove(facts, "Failed");
      await carryOut(plan, move, context);
      if (move.phase === "Failed" || move.phase === "Completed") return undefined;
      const job = restoreJobName(restore, "undo");
      if (move.stuck)
        return { waitingFor: `help: job ${job} could not restore the old data; see the logs of its pods` };
      const waitingFor = move.phase === "Finishing" ? "the old data to be removed" : "the old data to be put back";
      const problem = await partProblem(restore, facts, context);
      return { waitingFor: problem ? `${waitingFor}: ${problem.message}` : waitingFor };
    },
  });
}

const databaseOf = ({ metadata, spec }: DatabaseRestore, { cache }: ReconcileContext) =>
  cache.get(Database, `${metadata.namespace}/${spec.database}`);

function planFor(restore: DatabaseRestore, database: Database, { cache }: ReconcileContext): RestorePlan | undefined {
  const { database: source = restore.spec.database } = restore.spec.from ?? {};
  const { namespace } = restore.metadata;
  return planOf(restore, database, cache.get(Database, `${namespace}/${source}`), (claim) =>
    cache.get(PersistentVolumeClaim, `${namespace}/${claim}`),
  );
}

const isHolder = (restore: DatabaseRestore, { metadata }: Database) =>
  metadata.annotations?.[RESTORING] === restore.metadata.name;

/** Why a restore does not begin. Once it has begun, it goes on. */
function whyNot(
  restore: DatabaseRestore,
  database: Database | undefined,
  plan: RestorePlan | undefined,
  { cache }: ReconcileContext,
): { reason: string; message: string; fatal?: boolean } | undefined {
  const { spec, status } = restore;
  if (!database) return { reason: "NoDatabase", message: `there is no Database ${spec.database}` };
  if (!plan) {
    const source = spec.from?.database ?? spec.database;
    const message = `it is unknown where the backups of ${source} are: no such Database with spec.backup, and no from.claim or from.objectStore`;
    return { reason: "NoBackups", message };
  }
  if (status?.phase && status.phase !== "Pending") return undefined;
  if (plan.method === "physical" && engineOf(database).name !== "postgres") {
    return {
      reason: "Impossible",
      message: "only postgres has physical backups: set from.method to logical",
      fatal: true,
    };
  }
  if (isReplica(database)) {
    const message = `Database ${spec.database} follows another one: promote it first, or restore that one`;
    return { reason: "Impossible", message, fatal: true };
  }
  if (plan.method === "logical" && isStore(plan.place)) {
    return { reason: "Impossible", message: "an object store has no dumps: omit from.method", fatal: true };
  }
  if (plan.method === "logical" && !hasSuperuserAccess(database)) {
    const message = "a dump is loaded by the superuser: set enableSuperuserAccess of the Database to true";
    return { reason: "Impossible", message, fatal: true };
  }
  if (plan.method === "logical" && (spec.targetTime || spec.targetLSN || spec.targetXID)) {
    return { reason: "Impossible", message: "a dump has no points in time: omit the target", fatal: true };
  }
  if (!spec.inPlace && !awaitsBootstrap(database)) {
    const message = `Database ${spec.database} has data, which would be replaced: set inPlace: true to allow that`;
    return { reason: "WouldReplaceData", message, fatal: true };
  }
  const backup = cache.get(DatabaseBackup, `${restore.metadata.namespace}/${spec.from?.backup}`);
  const { phase: taken = "Pending" } = backup?.status ?? {};
  if (backup && taken !== "Completed") {
    const message = `DatabaseBackup ${spec.from?.backup} is ${taken}`;
    return { reason: "BackupNotThere", message, fatal: taken === "Failed" || taken === "Expired" };
  }
  const { [RESTORING]: holder, [UPGRADING]: upgrade } = database.metadata.annotations ?? {};
  if ((holder && holder !== restore.metadata.name) || upgrade) {
    const what = upgrade ? `DatabaseUpgrade ${upgrade}` : `DatabaseRestore ${holder}`;
    return { reason: "AnotherRestore", message: `${what} is in progress on Database ${spec.database}` };
  }
  if (database.spec.hibernated)
    return { reason: "Hibernated", message: `Database ${spec.database} is hibernated: set hibernated to false first` };
  if (plan.method === "logical" && database.status?.phase !== "Running") {
    return { reason: "NotRunning", message: `a dump is loaded when Database ${spec.database} runs` };
  }
  return undefined;
}

function factsOf({ restore, database, method, primary }: RestorePlan, { cache }: ReconcileContext): RestoreFacts {
  const { namespace } = restore.metadata;
  const parts: Partial<Record<RestorePart, PartState>> = {};
  for (const part of RESTORE_PARTS) {
    const job = cache.get(Job, `${namespace}/${restoreJobName(restore, part)}`);
    if (job && isControlledBy(job, restore)) parts[part] = jobEnd(job) ?? "working";
  }
  return {
    physical: method === "physical",
    parts,
    held: isHolder(restore, database),
    stopped: areStopped(database, cache),
    standbys: otherClaims(database, primary, cache).length > 0,
    ready: isServerReady(database, primary, cache),
  };
}

/** What keeps the part that is at work from being done. */
function partProblem(
  restore: DatabaseRestore,
  { parts }: RestoreFacts,
  context: ReconcileContext,
): Promise<WorkloadProblem | undefined> {
  const part = RESTORE_PARTS.findLast((one) => parts[one] === "working");
  const name = part && restoreJobName(restore, part);
  return taskProblem(name ? context.cache.get(Job, `${restore.metadata.namespace}/${name}`) : undefined, context);
}

/** Does what a move says. Each part may have been done before. */
async function carryOut(plan: RestorePlan, move: RestoreMove, context: ReconcileContext): Promise<void> {
  const { restore, database } = plan;
  const { client, cache } = context;
  if (move.hold !== undefined) await hold(plan, move, context);
  if (move.removeStandbys) await deleteClaims(otherClaims(database, plan.primary, cache), context);
  if (!move.start) return;
  if (move.start === "restore" && plan.method === "physical") {
    const name = dataClaimOf(plan);
    if (!cache.get(PersistentVolumeClaim, `${restore.metadata.namespace}/${name}`)) {
      const claim = dataClaimFor(database, name, labelsOf(database));
      // Direct writes: a restore creates the volume of a stopped server and holds the Database, which are not its children.
      await client.create(PersistentVolumeClaim, claim).catch(unlessThere);
    }
  }
  // Said before the end, so that the restore cannot be repeated upon what was written since.
  if (move.start === "finish" && awaitsBootstrap(database))
    await annotate(plan, { [BOOTSTRAPPED]: restore.metadata.name }, context);
  await startJob(DatabaseRestore, restore, restoreJobFor(plan, move.start), context);
}

/** Stops the servers of a Database, or lets them start. A Database that began with this restore has begun. */
async function hold(plan: RestorePlan, move: RestoreMove, context: ReconcileContext): Promise<void> {
  const { name } = plan.restore.metadata;
  const began = !move.hold && move.phase === "Starting" && awaitsBootstrap(plan.database);
  await annotate(plan, { [RESTORING]: move.hold ? name : null, ...(began && { [BOOTSTRAPPED]: name }) }, context);
}

async function annotate(
  { database }: RestorePlan,
  annotations: Readonly<Record<string, string | null>>,
  { client }: ReconcileContext,
): Promise<void> {
  const { namespace, name } = database.metadata;
  await client.patch(Database, `${namespace}/${name}`, { merge: { metadata: { annotations } } }).catch(ignoreMissing);
}

/** The reports of the finished parts. */
async function reportsOf(
  { restore }: RestorePlan,
  context: ReconcileContext,
): Promise<Partial<Record<RestorePart, TaskReport>>> {
  const reports: Partial<Record<RestorePart, TaskReport>> = {};
  for (const part of RESTORE_PARTS) {
    const job = context.cache.get(Job, `${restore.metadata.namespace}/${restoreJobName(restore, part)}`);
    if (job && jobEnd(job)) reports[part] = await reportOf(job, context);
  }
  return reports;
}

/** Stops the Job that restores; true when none of its pods is left. */
async function isStopped(restore: DatabaseRestore, { client, cache }: ReconcileContext): Promise<boolean> {
  const key = `${restore.metadata.namespace}/${restoreJobName(restore, "restore")}`;
  const job = cache.get(Job, key);
  if (!job) return true;
  if (!job.spec?.suspend) await client.patch(Job, key, { merge: { spec: { suspend: true } } }).catch(ignoreMissing);
  return !cache.list(Pod, restore.metadata.namespace).some((pod) => isControlledBy(pod, job));
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
