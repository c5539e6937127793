import {
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  controller,
  isAlreadyExists,
  permission,
  type ReconcileContext,
  type ReconcileResult,
  watchKind,
} from "konverge";
import { Event, Job, PersistentVolumeClaim, Pod, StatefulSet } from "konverge/kinds";
import { isControlledBy } from "konverge/objects";
import { POD_PROBLEM_GRACE_MS, problemConditions } from "konverge/pods";
import { timestamp } from "konverge/time";
import { Database } from "./database.ts";
import { DatabaseBackup } from "./database-backup.ts";
import { DatabaseUpgrade } from "./database-upgrade.ts";
import { ignoreMissing } from "./ignore-missing.ts";
import { RESTORING } from "./restore-hold.ts";
import type { RestorePart } from "./restore-jobs.ts";
import { nextMove, type PartState, type RestoreFacts, type RestoreMove, undoMove } from "./restore-progress.ts";
import { areStopped, deleteClaims, isServerReady, otherClaims } from "./stopped-servers.ts";
import { reportOf, startJob } from "./task-jobs.ts";
import { jobEnd } from "./task-pod.ts";
import { taskProblem } from "./task-problem.ts";
import type { TaskReport } from "./task-report.ts";
import { UPGRADE_OF, UPGRADE_PARTS, upgradedServer, upgradeJobFor, upgradeJobName } from "./upgrade-jobs.ts";
import { majorOf, RUNS, runsText, UPGRADING } from "./version.ts";

const DATABASE = "database-name";
/** Milliseconds that the servers have to become ready with the new version before the upgrade is undone. */
const START = 15 * 60_000;

type Phase = NonNullable<NonNullable<DatabaseUpgrade["status"]>["phase"]>;

const SENTENCES: Readonly<Record<Phase, string>> = {
  Pending: "it has not started",
  Checking: "the upgrade is rehearsed on a copy; the servers still run",
  Stopping: "the servers are being stopped",
  Upgrading: "a copy of the data is being upgraded; the old data are kept",
  Starting: "the servers are started with the new version; the old data are kept",
  Finishing: "the servers run the new version; the old data are being removed",
  Undoing: "the old data are being put back",
  Completed: "the servers run the new version",
  Failed: "nothing was changed",
};

/**
 * Upgrades the data of a Database in the steps of a restore: rehearse while the servers run, stop them, upgrade a copy beside the old
 * data, start, and only then remove the old data. A failure puts the old data and the old version back.
 */
export function databaseUpgrades() {
  const ofDatabase = ({ metadata: { namespace, labels } }: Pod | PersistentVolumeClaim | StatefulSet) =>
    labels?.[DATABASE] ? [`${namespace}/${labels[DATABASE]}`] : [];
  const under = new Map<string, Set<string>>();
  const ofServer = (object: Pod | PersistentVolumeClaim | StatefulSet) =>
    ofDatabase(object).flatMap((key) => [...(under.get(key) ?? [])]);
  return controller(DatabaseUpgrade, {
    watches: [
      watchKind<Database, DatabaseUpgrade>(Database, {
        references: ({ metadata, spec }) => [`${metadata.namespace}/${spec.database}`],
      }),
      watchKind<Job, DatabaseUpgrade>(Job, {
        labelSelector: UPGRADE_OF,
        to: ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[UPGRADE_OF]}`],
      }),
      watchKind<Pod, DatabaseUpgrade>(Pod, { labelSelector: DATABASE, to: ofServer }),
      watchKind<StatefulSet, DatabaseUpgrade>(StatefulSet, { labelSelector: DATABASE, to: ofServer }),
      watchKind<PersistentVolumeClaim, DatabaseUpgrade>(PersistentVolumeClaim, {
        labelSelector: DATABASE,
        to: ofServer,
      }),
    ],
    permissions: [
      permission(Job, ["get", "create"], { why: "runs each DatabaseUpgrade in Jobs" }),
      permission(Pod, ["list"], { why: "reads why the pods of each DatabaseUpgrade failed" }),
      permission(PersistentVolumeClaim, ["delete"], {
        why: "removes the volumes of standbys, whose data a DatabaseUpgrade has made useless",
      }),
      permission(Database, ["patch"]),
      permission(DatabaseBackup, ["create"]),
      permission(Event, ["list"]),
    ],
    finalizer: "databases.example.com/upgrade",
    async reconcile(upgrade, context): Promise<ReconcileResult<DatabaseUpgrade>> {
      const { namespace, name } = upgrade.metadata;
      const { phase } = upgrade.status ?? {};
      const ofServers = `${namespace}/${upgrade.spec.database}`;
      under.set(ofServers, (under.get(ofServers) ?? new Set()).add(`${namespace}/${name}`));
      const database = context.cache.get(Database, ofServers);
      if (phase === "Completed") return { conditions: { Ready: conditionTrue(phase, SENTENCES[phase]) } };
      if (phase === "Failed") return ended(upgrade);
      const why = whyNot(upgrade, database);
      if (why) return why.fatal ? failed(why.message, context) : pending(why.reason, why.message);
      const facts = factsOf(upgrade, database!, context);
      const move = nextMove(facts);
      await carryOut(upgrade, database!, move, context);
      const result = await moved(upgrade, database!, { facts, move }, context);
      return { ...result, ...(move.phase !== "Completed" && { requeueAfter: POD_PROBLEM_GRACE_MS }) };
    },
    async cleanup(upgrade, context) {
      const { phase } = upgrade.status ?? {};
      const database = context.cache.get(Database, `${upgrade.metadata.namespace}/${upgrade.spec.database}`);
      if (!database || phase === "Completed" || phase === "Failed") return undefined;
      const facts = factsOf(upgrade, database, context);
      if (facts.parts.restore === "working") return { waitingFor: "the data to be upgraded: then that is undone" };
      const move = undoMove(facts, "Failed");
      await carryOut(upgrade, database, move, context);
      if (move.phase === "Failed" || move.phase === "Completed") return undefined;
      return { waitingFor: move.phase === "Finishing" ? "the old data to be removed" : "the old data to be put back" };
    },
  });
}

/** Why an upgrade does not begin. Once it has begun, it goes on. */
function whyNot({ metadata, spec, status }: DatabaseUpgrade, database: Database | undefined) {
  if (!database) return { reason: "NoDatabase", message: `there is no Database ${spec.database}`, fatal: false };
  if (status?.phase && status.phase !== "Pending" && status.phase !== "Checking") return undefined;
  if (majorOf(database.spec.version) !== majorOf(spec.to.version)) {
    const message = `version ${spec.to.version} is no longer requested by Database ${spec.database}`;
    return { reason: "NotRequested", message, fatal: true };
  }
  if (database.spec.backup?.objectStore) {
    const message =
      "an upgrade in place does not support spec.backup.objectStore: create a Database of the new version, and load a dump into it";
    return { reason: "Impossible", message, fatal: true };
  }
  const { annotations } = database.metadata;
  const holder = annotations?.[RESTORING] ?? annotations?.[UPGRADING];
  if (holder && holder !== metadata.name) {
    return { reason: "Waits", message: `${holder} is in progress on Database ${spec.database}`, fatal: false };
  }
  if (status?.phase === "Checking") return undefined;
  if (database.spec.hibernated)
    return { reason: "Hibernated", message: `Database ${spec.database} is hibernated`, fatal: false };
  if (database.status?.currentPrimary === undefined)
    return { reason: "NotRunning", message: `no server of Database ${spec.database} accepts writes`, fatal: false };
  return undefined;
}

function factsOf(upgrade: DatabaseUpgrade, database: Database, { cache, clock }: ReconcileContext): RestoreFacts {
  const { namespace, name } = upgrade.metadata;
  const parts: Partial<Record<RestorePart, PartState>> = {};
  for (const part of UPGRADE_PARTS) {
    const job = cache.get(Job, `${namespace}/${upgradeJobName(upgrade, part)}`);
    if (job && isControlledBy(job, upgrade)) parts[part] = jobEnd(job) ?? "working";
  }
  const primary = upgradedServer(upgrade, database);
  const ready = isServerReady(database, primary, cache);
  const held = database.metadata.annotations?.[UPGRADING] === name;
  const since = Date.parse(upgrade.status?.startingAt ?? "");
  // Servers that do not become ready with the new version: the upgrade has failed, also while they are stopped to undo it.
  const isLate = !ready && clock.now() - since > START;
  if (isLate && parts.restore === "complete" && !parts.finish) parts.restore = "failed";
  const standbys = otherClaims(database, primary, cache).length > 0;
  return { physical: true, parts, held, stopped: areStopped(database, cache), standbys, ready };
}

async function carryOut(
  upgrade: DatabaseUpgrade,
  database: Database,
  move: RestoreMove,
  context: ReconcileContext,
): Promise<void> {
  const { from, to } = upgrade.spec;
  const { name, namespace } = upgrade.metadata;
  if (move.removeStandbys) {
    await deleteClaims(otherClaims(database, upgradedServer(upgrade, database), context.cache), context);
  }
  if (move.hold === true) await annotate(database, { [UPGRADING]: name }, context);
  // The version is that of the data, which the servers find when they start.
  const runs = move.phase === "Starting" ? to : from;
  if (move.hold === false) await annotate(database, { [UPGRADING]: null, [RUNS]: runsText(runs) }, context);
  // What was undone only in part: the servers have run with the new version, and go on.
  if (move.stuck) await annotate(database, { [UPGRADING]: null, [RUNS]: runsText(to) }, context);
  if (!move.start) return;
  if (move.start === "finish" && database.spec.backup) {
    const backup = { metadata: { name, namespace: namespace! }, spec: { database: database.metadata.name } };
    // Direct write: backups of the old version are of no use to the new one, and a backup outlives the upgrade.
    await context.client.create(DatabaseBackup, backup).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  await startJob(DatabaseUpgrade, upgrade, upgradeJobFor(upgrade, database, move.start), context);
}

async function annotate(
  { metadata: { namespace, name } }: Database,
  annotations: Readonly<Record<string, string | null>>,
  { client }: ReconcileContext,
): Promise<void> {
  await client.patch(Database, `${namespace}/${name}`, { merge: { metadata: { annotations } } }).catch(ignoreMissing);
}

/** How far it has come. */
async function moved(
  upgrade: DatabaseUpgrade,
  database: Database,
  { facts, move }: { readonly facts: RestoreFacts; readonly move: RestoreMove },
  context: ReconcileContext,
): Promise<ReconcileResult<DatabaseUpgrade>> {
  const phase: Phase = move.stuck && move.phase === "Undoing" ? "Failed" : phaseOf(move);
  const reports = await reportsOf(upgrade, context);
  const error = errorOf(facts, reports);
  const before = upgrade.status;
  const { startedAt = timestamp(context.clock) } = before ?? {};
  const startingAt = phase === "Starting" ? (before?.startingAt ?? timestamp(context.clock)) : before?.startingAt;
  if (before?.phase !== phase) {
    if (phase === "Failed") context.events.warning("UpgradeFailed", error);
    else context.events.normal(phase, SENTENCES[phase]);
  }
  const part = UPGRADE_PARTS.findLast((one) => facts.parts[one] === "working");
  const { namespace } = upgrade.metadata;
  const job = part && context.cache.get(Job, `${namespace}/${upgradeJobName(upgrade, part)}`);
  const problem = job ? await taskProblem(job, context) : undefined;
  const seconds = Number(reports.check?.["seconds"]);
  return {
    status: {
      phase,
      primary: upgradedServer(upgrade, database),
      startedAt,
      ...(startingAt && { startingAt }),
      ...(seconds > 0 && { rehearsalSeconds: seconds }),
      ...(phase === "Completed" && { completedAt: timestamp(context.clock) }),
      ...((phase === "Failed" || phase === "Undoing") && { error }),
    },
    conditions: problem ? problemConditions(problem) : conditionsOf(phase, error),
  };
}

const phaseOf = ({ phase }: RestoreMove): Phase => (phase === "Restoring" ? "Upgrading" : phase);

function conditionsOf(phase: Phase, error: string) {
  if (phase === "Completed") return { Ready: conditionTrue(phase, SENTENCES[phase]) };
  if (phase === "Failed")
    return { Ready: conditionFalse("UpgradeFailed", error), Degraded: conditionTrue("UpgradeFailed", error) };
  return { Ready: conditionUnknown(phase, SENTENCES[phase]) };
}

type Reports = Readonly<Partial<Record<RestorePart, TaskReport>>>;

async function reportsOf(upgrade: DatabaseUpgrade, context: ReconcileContext): Promise<Reports> {
  const reports: Partial<Record<RestorePart, TaskReport>> = {};
  for (const part of UPGRADE_PARTS) {
    const job = context.cache.get(Job, `${upgrade.metadata.namespace}/${upgradeJobName(upgrade, part)}`);
    if (job && jobEnd(job)) reports[part] = await reportOf(job, context);
  }
  return reports;
}

function errorOf({ parts }: RestoreFacts, { check, restore, undo }: Reports): string {
  if (parts.undo === "failed")
    return undo?.["error"] ?? "the old data could not be put back: see the log of the undo Job";
  const late = `the servers did not become ready with the new version within ${START / 60_000} minutes`;
  return restore?.["error"] ?? check?.["error"] ?? (parts.undo ? late : "its Job has failed");
}

function pending(reason: string, message: string): ReconcileResult<DatabaseUpgrade> {
  return { status: { phase: "Pending" }, conditions: { Ready: conditionFalse(reason, message) } };
}

function failed(error: string, { events }: ReconcileContext): ReconcileResult<DatabaseUpgrade> {
  events.warning("UpgradeFailed", error);
  return { status: { phase: "Failed", error }, conditions: conditionsOf("Failed", error) };
}

function ended({ status }: DatabaseUpgrade): ReconcileResult<DatabaseUpgrade> {
  return { conditions: conditionsOf("Failed", status?.error ?? "") };
}
