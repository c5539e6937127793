import {
  cacheKind,
  controller,
  findCondition,
  isApplied,
  isForbidden,
  isInvalid,
  isNotFound,
  ownedKind,
  PermanentError,
  permission,
  type ReconcileContext,
  watchKind,
} from "konverge";
import {
  ConfigMap,
  CronJob,
  Deployment,
  Event,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from "konverge/kinds";
import { POD_PROBLEM_GRACE_MS } from "konverge/pods";
import { countOfVolumes } from "./adoption.ts";
import { applicationSecretFor } from "./application.ts";
import { backupsFor, keepBackups } from "./backup.ts";
import { existingBackupClaim, isOfOneNode } from "./backup-volume.ts";
import { credentialsFor, isRotating, passwordDigest } from "./credentials.ts";
import { Database } from "./database.ts";
import { specErrors } from "./database-admission.ts";
import { configFor, configurationDigest, servicesFor, statefulSetFor } from "./database-children.ts";
import { conditionsOf, type Findings, isStarting, leads, recordEvents, statusOf } from "./database-status.ts";
import { DatabaseUpgrade } from "./database-upgrade.ts";
import { declaredSecretFor } from "./declared.ts";
import { declaredFindings } from "./declared-status.ts";
import { brokenServers, disruptionBudgetFor } from "./disruption-budget.ts";
import { DRILL_OF } from "./drill-jobs.ts";
import { drillHistory } from "./drill-status.ts";
import { engineOf } from "./engines.ts";
import { fencedRollout, fencedServers } from "./fence.ts";
import { type FleetRollout, markedServers } from "./fleet-rollout.ts";
import { cordonedNodes, decide, indexOf, restartFor, synchronousOf } from "./leader-decision.ts";
import { LEASE_ROUND, type Leases } from "./leases.ts";
import type { DatabaseMetrics } from "./metrics.ts";
import { applicationSecretName, backupName, declaredName, podName, secretName, topologyName } from "./names.ts";
import { type ParameterStep, parameterStep } from "./parameter-rollout.ts";
import { PodMonitor, podMonitorsFor } from "./pod-monitor.ts";
import { poolerFor } from "./pooler.ts";
import { sourceSecret, withSource } from "./replica.ts";
import { sourceOf } from "./replica-source.ts";
import { heldForRestore } from "./restore-hold.ts";
import { type RolloutStep, rolloutStep } from "./rollout.ts";
import { scriptsFor } from "./scripts.ts";
import type { AskServer } from "./server-report.ts";
import { CERTIFICATE_CHECK_INTERVAL, tlsChildren } from "./server-tls.ts";
import { askServers, capacityOf, claimsOf, labelPods, outdatedPods, removePod, serverProblem } from "./servers.ts";
import { desiredSize, type StorageStep, storageStep } from "./storage.ts";
import { hasSuperuserAccess } from "./superuser.ts";
import { Certificate, certificateProblem, certificatesFor } from "./tls-certificate.ts";
import { heldTopology, knownTopology, topologyFor } from "./topology.ts";
import { majorChange, UPGRADING, upgradeName } from "./version.ts";
import { isArchived } from "./wal-archive.ts";

const DATABASE = "database-name";
/** Milliseconds after which servers that are asked are asked again; while one is being promoted. */
const ROUND = 30_000;
const PROMOTION = 1_000;

/**
 * Reconciles each Database: applies its servers, volumes, Services, settings and credentials, decides which server leads,
 * rolls out changes one server at a time, grows volumes, and reports the status.
 */
export function databases(ask: AskServer, metrics: DatabaseMetrics, fleet: FleetRollout, leases: Leases) {
  const ofDatabase = ({ metadata: { namespace, labels } }: Pod | PersistentVolumeClaim) =>
    labels?.[DATABASE] ? [`${namespace}/${labels[DATABASE]}`] : [];
  return controller(Database, {
    owns: [
      // What is immutable is recreated around the existing pods.
      ownedKind(StatefulSet, { onImmutable: "orphan" }),
      Service,
      ConfigMap,
      // An existing Secret has the password to use.
      ownedKind(Secret, { adopt: "any" }),
      CronJob,
      PersistentVolumeClaim,
      PodDisruptionBudget,
      Deployment,
      ownedKind(PodMonitor, { optional: true }),
      ownedKind(Certificate, { optional: true }),
    ],
    watches: [
      cacheKind(Secret),
      cacheKind(Database),
      watchKind<DatabaseUpgrade, Database>(DatabaseUpgrade, {
        to: ({ metadata, spec }) => [`${metadata.namespace}/${spec.database}`],
      }),
      watchKind<Secret, Database>(Secret, {
        references: (database) => [
          ...(database.spec.roles ?? []).flatMap(({ passwordSecret }) => passwordSecret?.name ?? []),
          ...(sourceOf(database) ? [sourceOf(database)!.secretName] : []),
        ],
      }),
      watchKind<Pod, Database>(Pod, { labelSelector: "app=database", to: ofDatabase }),
      watchKind<Job, Database>(Job, {
        labelSelector: DRILL_OF,
        to: ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[DRILL_OF]}`],
      }),
      watchKind<PersistentVolumeClaim, Database>(PersistentVolumeClaim, { to: ofDatabase }),
      cordonedNodes,
    ],
    permissions: [
      permission(PersistentVolumeClaim, ["patch"], { why: "lets the volumes of each Database grow" }),
      permission(StatefulSet, ["delete"], { why: "stops the servers of each Database before it is deleted" }),
      permission(Pod, ["get", "list", "patch", "delete"], {
        why: "labels the primary and the standbys of each Database, and replaces outdated servers one after the other; reads what restore drills found",
      }),
      permission(Pod, ["get", "create"], {
        subresource: "exec",
        why: "runs status.sh in the servers of each Database, to learn who leads, who follows how far, and how full volumes are",
      }),
      permission(Event, ["list"]),
      permission(Secret, ["get", "create", "update"], {
        why: "keeps the passwords and certificates of each Database, and reads those that cert-manager has issued",
      }),
    ],
    finalizer: "databases.example.com/finalizer",
    async reconcile(database, context) {
      const { observed, cache, clock, events } = context;
      const { spec, metadata } = database;
      checkSpec(database);
      const engine = engineOf(database);
      const volumes =
        engine.name === "postgres"
          ? countOfVolumes(database, cache.list(PersistentVolumeClaim, metadata.namespace))
          : 0;
      const written = knownTopology(database, observed(ConfigMap, topologyName(database)), volumes);
      const secretOf = (name: string) => cache.get(Secret, `${metadata.namespace}/${name}`);
      const stopped = whyStopped(database);
      const servers = observed(StatefulSet, metadata.name);
      // The server that leads is kept until another one leads.
      const leader = indexOf(written.primary || written.upstream) + 1;
      const count = Math.max(spec.instances, leader, written.adopting ? volumes : 0);
      const live = cache.get(Secret, `${metadata.namespace}/${secretName(database)}`);
      const isAsked = engine.name === "postgres" && !stopped;
      const members = await askServers(database, written, count, { ask: isAsked ? ask : undefined, leases }, context);
      const outdated = outdatedPods(database, servers, context);
      const fenced = fencedServers(
        database,
        members.map(({ name }) => name),
      );
      const due: RolloutStep =
        stopped || written.operation
          ? { step: "none" }
          : fencedRollout(rolloutStep(members, written.primary, outdated), fenced);
      const all = cache.list(Database);
      const rollout = fleet.step(due, { database, servers, members, all, now: clock.now() });
      const waits = rollout.step === "wait" && rollout.isTurn === true;
      const held = withSource(database, heldTopology(written, heldForRestore(database) !== undefined), members);
      const config = configFor(database, engine);
      const decided = stopped
        ? { topology: held }
        : await decide(database, held, members, { rollout, leases, fenced }, context);
      const parameters: ParameterStep =
        rollout.step === "none" || waits
          ? parameterStep(members, written.primary, configurationDigest(config))
          : { step: "none" };
      const step = restartFor(decided, parameters, members, context);
      if (step.remove) await removePod(database, step.remove, context);
      await labelPods(database, written, step.topology, members, context);
      await replaceOutdated(database, rollout, context);

      const claims = claimsOf(database, count, context);
      const reports = members.flatMap(({ report }) => report ?? []);
      const desired = desiredSize(spec, claims, reports);
      const storage = await growVolumes(database, desired.size, claims, context);
      const claimed = servers?.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.["storage"];
      const backups = existingBackupClaim(database, context);
      const together = isArchived(database) && isOfOneNode(database, backups);
      const rendered = statefulSetFor(database, engine, { replicas: stopped ? 0 : count, claimed, together });
      const draft = markedServers(database, rendered, servers);
      const primary = step.topology.primary || step.topology.upstream || podName(database);
      const isObserved = servers?.status?.observedGeneration === servers?.metadata.generation;
      const areThere = members.every(({ pod }) => (stopped ? !pod : pod?.ready && !pod.ending));
      const isNewest = isApplied(StatefulSet, draft, servers) && isObserved && (outdated.size === 0 || waits);
      const pending = await certificateProblem(database, context);
      const ready = !pending && isNewest && areThere && (stopped !== undefined || leads(step.topology, members));
      if (ready && outdated.size === 0) fleet.finish(database);
      const problem = ready
        ? undefined
        : (pending ?? (await serverProblem(database, [primary, ...members.map(({ name }) => name)], servers, context)));
      const { secrets } = clock;
      const source = sourceSecret(database, step.topology, secretOf);
      const [declared] = declaredSecretFor(database, { live: secretOf(declaredName(database)), secretOf, secrets });
      const leading = members.find(({ report }) => report?.role === "primary")?.report;
      const findings: Findings = {
        engine,
        members,
        step,
        rollout,
        parameters,
        update: waits ? "Waiting" : fleet.isUpdating(database) ? "Updating" : undefined,
        ready,
        asked: isAsked,
        problem,
        storage,
        atLimit: desired.atLimit ?? false,
        capacity: capacityOf(claims),
        lastBackup: observed(CronJob, backupName(database))?.status?.lastSuccessfulTime,
        declared: declaredFindings(database, { secret: declared, secretOf, leader: leading }),
        hasSourceSecret: source !== undefined,
        drills: await drillHistory(database, context),
        stopped,
        upgrade: majorChange(database)
          ? (cache.get(DatabaseUpgrade, `${metadata.namespace}/${upgradeName(database)}`)?.status ?? {})
          : undefined,
      };
      recordEvents(database, findings, events);
      metrics.update(database, findings, () => cache.list(Database));
      const reportedDigest = leading?.password;
      const liveApplication = cache.get(Secret, `${metadata.namespace}/${applicationSecretName(database)}`);
      const [application] = applicationSecretFor(database, engine, { live: liveApplication, secrets });
      const secret = credentialsFor(database, engine, {
        live,
        secrets,
        now: clock.now(),
        reportedDigest,
        application,
        source,
      });
      const ofPoolers = secret.data?.[hasSuperuserAccess(database) ? "password" : "userlist.txt"] ?? "";
      const certificates = await tlsChildren(database, context);
      const renewal = certificates.length > 0 ? CERTIFICATE_CHECK_INTERVAL : undefined;
      // Too little room is a problem only when it lasts, and no event reports that.
      const wait = waits ? ROUND : ready ? undefined : POD_PROBLEM_GRACE_MS;
      const round = isStarting(step.topology, members, clock.now()) ? PROMOTION : count > 1 ? LEASE_ROUND : ROUND;
      const after = isRotating(secret) ? 1_000 : (step.after ?? (isAsked ? round : wait) ?? renewal);
      return {
        children: [
          secret,
          ...(application ? [application] : []),
          ...(declared ? [declared] : []),
          ...certificates,
          ...certificatesFor(database),
          ...podMonitorsFor(database),
          config,
          scriptsFor(database),
          topologyFor(database, step.topology, {
            instances: count,
            synchronous: synchronousOf(database),
            port: engine.port,
            fenced,
          }),
          ...servicesFor(database, engine),
          ...disruptionBudgetFor(database, brokenServers(members, clock.now())),
          draft,
          ...poolerFor(database, engine, passwordDigest(ofPoolers).slice(0, 16)),
          ...backupsFor(database, backups),
        ],
        status: statusOf(database, findings),
        conditions: conditionsOf(database, findings),
        ...(after !== undefined && { requeueAfter: after }),
      };
    },
    // Servers that are stopped in good order leave volumes that can be used again at once.
    async cleanup(database, { cache, client }) {
      const key = `${database.metadata.namespace}/${database.metadata.name}`;
      // Direct writes: servers must have stopped before the object goes, and volumes of a StatefulSet are not children.
      await client.delete(StatefulSet, key).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      const { namespace, name } = database.metadata;
      leases.forget(key);
      const pod = cache.list(Pod, namespace).find(({ metadata }) => metadata.labels?.[DATABASE] === name);
      if (pod) return { waitingFor: `the server ${pod.metadata.name} to stop` };
      await keepBackups(database, client);
      return undefined;
    },
  });
}

/** Without the webhook, what it would refuse is found here. */
function checkSpec(database: Database): void {
  const [error] = specErrors(database, undefined);
  if (error) throw new PermanentError("InvalidSpec", `${error.field}: ${error.message}`);
}

function whyStopped(database: Database): Findings["stopped"] {
  const message = heldForRestore(database);
  const isUpgrade = database.metadata.annotations?.[UPGRADING] !== undefined;
  if (message !== undefined) return { reason: isUpgrade ? "Upgrading" : "Restoring", message };
  return database.spec.hibernated
    ? { reason: "Hibernated", message: "the server is stopped, its data are kept" }
    : undefined;
}

async function replaceOutdated(database: Database, rollout: RolloutStep, context: ReconcileContext): Promise<void> {
  if (rollout.step !== "replace") return;
  await removePod(database, rollout, context);
  context.events.normal("ServerReplaced", `${rollout.name} ${rollout.why}`);
}

/** Lets all volumes grow; returns what is to be said of them. */
async function growVolumes(
  database: Database,
  size: string,
  claims: readonly PersistentVolumeClaim[],
  context: ReconcileContext,
): Promise<StorageStep> {
  const known = findCondition(database.status?.conditions, "StorageAsRequested");
  const steps: StorageStep[] = [];
  for (const claim of claims) {
    const step = storageStep(size, claim);
    steps.push(step.step === "grow" ? await growVolume(claim, step, known?.reason === "CannotGrow", context) : step);
  }
  return steps.find(({ step }) => step !== "none") ?? { step: "none" };
}

/** A refusal by the cluster is reported, and retried in the next reconcile. */
async function growVolume(
  { metadata }: PersistentVolumeClaim,
  step: Extract<StorageStep, { step: "grow" }>,
  isKnown: boolean,
  { client, events }: ReconcileContext,
): Promise<StorageStep> {
  const { from, to } = step;
  const patch = { merge: { spec: { resources: { requests: { storage: to } } } } };
  try {
    await client.patch(PersistentVolumeClaim, `${metadata.namespace}/${metadata.name}`, patch);
    events.normal("VolumeGrows", `the volume ${metadata.name} grows from ${from} to ${to}`);
    return step;
  } catch (error) {
    if (!isForbidden(error) && !isInvalid(error)) throw error;
    const message = `the volume ${metadata.name} cannot grow from ${from} to ${to}: ${(error as Error).message}`;
    if (!isKnown) events.warning("CannotGrow", message);
    return { step: "stuck", to, message };
  }
}
