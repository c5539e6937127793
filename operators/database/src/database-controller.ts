import {
  cacheKind,
  controller,
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
import { keepBackups } from "./backup.ts";
import { existingBackupClaim } from "./backup-volume.ts";
import { isRotating } from "./credentials.ts";
import { Database } from "./database.ts";
import { specErrors } from "./database-admission.ts";
import { configFor } from "./database-children.ts";
import { childrenOf, serversFor } from "./database-description.ts";
import { findingsOf } from "./database-findings.ts";
import { type DatabaseSecrets, databaseSecrets } from "./database-secrets.ts";
import { conditionsOf, type Findings, isStarting, recordEvents, statusOf } from "./database-status.ts";
import { carryOut, decideSteps } from "./database-steps.ts";
import { DatabaseUpgrade } from "./database-upgrade.ts";
import { DRILL_OF } from "./drill-jobs.ts";
import type { FleetRollout } from "./fleet-rollout.ts";
import { cordonedNodes } from "./leader-decision.ts";
import { LEASE_ROUND, type Leases } from "./leases.ts";
import type { DatabaseMetrics } from "./metrics.ts";
import { type ObservedDatabase, observeDatabase } from "./observed-database.ts";
import { PodMonitor } from "./pod-monitor.ts";
import { sourceOf } from "./replica-source.ts";
import type { AskServer } from "./server-report.ts";
import { CERTIFICATE_CHECK_INTERVAL, tlsChildren } from "./server-tls.ts";
import { capacityOf, claimsOf } from "./servers.ts";
import { desiredSize } from "./storage.ts";
import { Certificate } from "./tls-certificate.ts";
import { growVolumes } from "./volume-growth.ts";

const DATABASE = "database-name";
/** Milliseconds after which servers that are asked are asked again; while one is being promoted; while a password is rotated. */
const ROUND = 30_000;
const PROMOTION = 1_000;
const ROTATION = 1_000;

/**
 * Reconciles each Database: applies its servers, volumes, Services, settings and credentials, decides which server leads,
 * rolls out changes one server at a time, grows volumes, and reports the status.
 *
 * Flow: what the cluster has and what the servers report is observed (observed-database.ts), what is done next is decided and
 * carried out (database-steps.ts), then the status (database-findings.ts) and the children (database-description.ts) are
 * described.
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
      checkSpec(database);
      const observation = await observeDatabase(database, { ask, leases }, context);
      const config = configFor(database, observation.engine);
      const steps = await decideSteps(database, observation, { config, fleet, leases }, context);
      await carryOut(database, observation, steps, context);
      const volumes = await volumesOf(database, observation, context);
      const backups = existingBackupClaim(database, context);
      const draft = serversFor(database, observation, backups);
      const secrets = databaseSecrets(database, observation, steps, context);
      const findings = await findingsOf(database, observation, steps, { draft, volumes, secrets, fleet }, context);
      recordEvents(database, findings, context.events);
      metrics.update(database, findings, () => context.cache.list(Database));
      const certificates = await tlsChildren(database, context);
      const after = nextReconcile(secrets, observation, findings, certificates.length > 0, context.clock.now());
      return {
        children: childrenOf(database, observation, steps, { config, draft, secrets, certificates, backups }, context),
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

/** Lets volumes grow that are too small, or full. */
async function volumesOf(database: Database, { count, members }: ObservedDatabase, context: ReconcileContext) {
  const claims = claimsOf(database, count, context);
  const reports = members.flatMap(({ report }) => report ?? []);
  const desired = desiredSize(database.spec, claims, reports);
  const storage = await growVolumes(database, desired.size, claims, context);
  return { storage, atLimit: desired.atLimit ?? false, capacity: capacityOf(claims) };
}

/** Milliseconds until servers are asked again, or something else is due. */
function nextReconcile(
  { credentials }: DatabaseSecrets,
  { members, isAsked, count }: ObservedDatabase,
  { step, update, ready }: Findings,
  hasCertificates: boolean,
  now: number,
): number | undefined {
  if (isRotating(credentials)) return ROTATION;
  if (step.after !== undefined) return step.after;
  if (isAsked) return isStarting(step.topology, members, now) ? PROMOTION : count > 1 ? LEASE_ROUND : ROUND;
  if (update === "Waiting") return ROUND;
  // Too little room is a problem only when it lasts, and no event reports that.
  if (!ready) return POD_PROBLEM_GRACE_MS;
  return hasCertificates ? CERTIFICATE_CHECK_INTERVAL : undefined;
}
