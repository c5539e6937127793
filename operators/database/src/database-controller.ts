import {
  type Conditions,
  type Context,
  controller,
  type EventSink,
  findCondition,
  isApplied,
  isConflict,
  isNotFound,
  no,
  own,
  PermanentError,
  parseQuantity,
  type Result,
  read,
  readinessOf,
  use,
  watch,
  yes,
} from "konverge";
import { ConfigMap, CronJob, PersistentVolumeClaim, Pod, Secret, Service, StatefulSet } from "konverge/kinds";
import { backupsFor } from "./backup.ts";
import { credentialsFor } from "./credentials.ts";
import { Database } from "./database.ts";
import { configFor, serviceFor, statefulSetFor } from "./database-children.ts";
import { engineOf } from "./engines.ts";
import { backupName, claimName, podName, secretName } from "./names.ts";
import { type ServerProblem, serverProblem } from "./server-problem.ts";
import { type StorageStep, storageStep } from "./storage.ts";

const DATABASE = "database-name";

/**
 * Keeps a StatefulSet with its volume, a Service, a ConfigMap, a Secret and, if asked for, a CronJob for each Database, lets
 * volumes grow, and tells how the server is doing.
 */
export function databases() {
  const ofDatabase = ({ metadata: { namespace, labels } }: Pod | PersistentVolumeClaim) =>
    labels?.[DATABASE] ? [`${namespace}/${labels[DATABASE]}`] : [];
  return controller(Database, {
    // A Secret that is there already holds the password that shall be used.
    owns: [StatefulSet, Service, ConfigMap, own(Secret, { adopt: "any" }), CronJob, PersistentVolumeClaim],
    watches: [
      read(Secret),
      watch<Pod, Database>(Pod, { labelSelector: "app=database", to: ofDatabase }),
      watch<PersistentVolumeClaim, Database>(PersistentVolumeClaim, { to: ofDatabase }),
    ],
    uses: [use(PersistentVolumeClaim, ["patch"]), use(StatefulSet, ["delete"]), use(Pod, ["delete"])],
    finalizer: "databases.example.com/finalizer",
    async reconcile(database, context): Promise<Result<Database>> {
      const { observed, cache, clock, events } = context;
      const { spec, metadata } = database;
      checkSize(spec.size);
      const engine = engineOf(database);
      const before = observed(StatefulSet, metadata.name);
      const claimed = before?.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.["storage"];
      const server = statefulSetFor(database, engine, claimed);
      const claim = cache.get(PersistentVolumeClaim, `${metadata.namespace}/${claimName(database)}`);
      const storage = storageStep(spec.size, claim);
      await followStorage(database, storage, context);
      const pod = cache.get(Pod, `${metadata.namespace}/${podName(database)}`);
      await replaceStuck(before, pod, context);
      const ready = isApplied(StatefulSet, server, before) && readinessOf(before, clock.now()).status === "Current";
      const problem = ready ? undefined : serverProblem(pod);
      const phase = ready ? "Running" : problem?.fatal ? "Failed" : "Creating";
      tell(database, phase, problem, events);
      const backup = observed(CronJob, backupName(database))?.status?.lastSuccessfulTime;
      return {
        children: [
          credentialsFor(
            database,
            engine,
            cache.get(Secret, `${metadata.namespace}/${secretName(database)}`),
            clock.random,
          ),
          configFor(database, engine),
          serviceFor(database, engine),
          server,
          ...backupsFor(database, engine),
        ],
        status: {
          phase,
          engine: engine.name,
          endpoint: `${metadata.name}.${metadata.namespace}.svc:${engine.port}`,
          secretName: secretName(database),
          podName: podName(database),
          ...(claim?.status?.capacity?.["storage"] && { storage: claim.status.capacity["storage"] }),
          ...(backup && { lastBackupTime: backup }),
        },
        conditions: conditionsOf(database, ready, problem, storage),
      };
    },
    // A server that is stopped in good order leaves a volume that can be used again at once.
    async cleanup(database, { cache, client }) {
      const key = `${database.metadata.namespace}/${database.metadata.name}`;
      await client.delete(StatefulSet, key).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      const pod = cache.get(Pod, `${database.metadata.namespace}/${podName(database)}`);
      return pod && { waitingFor: `the server ${pod.metadata.name} to stop` };
    },
  });
}

/**
 * A StatefulSet waits for a pod to be ready before it replaces it, also if the pod can never be: a mended spec would not help.
 * So a pod of an older revision that does not run is taken away.
 */
async function replaceStuck(
  server: StatefulSet | undefined,
  pod: Pod | undefined,
  { client, events }: Context,
): Promise<void> {
  const { updateRevision, observedGeneration } = server?.status ?? {};
  if (!pod || !updateRevision || observedGeneration !== server?.metadata.generation) return;
  const { name, namespace, uid, labels, deletionTimestamp } = pod.metadata;
  const isReady = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  if (isReady || deletionTimestamp || labels?.["controller-revision-hash"] === updateRevision) return;
  await client.delete(Pod, `${namespace}/${name}`, { preconditions: { uid: uid! } }).catch((error: unknown) => {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
  events.normal("ServerReplaced", `${name} did not come up and makes way for the newer revision`);
}

/** The schema lets any letters follow the number. */
function checkSize(size: string): void {
  try {
    if (parseQuantity(size).sign() > 0) return;
  } catch {
    // Said below.
  }
  throw new PermanentError(
    "InvalidSize",
    `spec.size: ${JSON.stringify(size)} is no size of a volume: write it as 5Gi or 500M`,
  );
}

/** Lets the volume grow; says so, or why it does not shrink. */
async function followStorage(database: Database, storage: StorageStep, { client, events }: Context): Promise<void> {
  if (storage.step === "grow") {
    const { from, to } = storage;
    const key = `${database.metadata.namespace}/${claimName(database)}`;
    await client.patch(PersistentVolumeClaim, key, { merge: { spec: { resources: { requests: { storage: to } } } } });
    events.normal("VolumeGrows", `the volume grows from ${from} to ${to}`);
  }
  const known = findCondition(database.status?.conditions, "StorageAsAsked");
  if (storage.step === "refuse" && known?.status !== "False") events.warning("ShrinkRefused", refusal(storage));
}

function refusal({ has, asked }: { has: string; asked: string }): string {
  return `the volume has ${has} and cannot shrink to ${asked}: it stays as it is`;
}

function conditionsOf(
  { spec }: Database,
  ready: boolean,
  problem: ServerProblem | undefined,
  storage: StorageStep,
): Conditions {
  const StorageAsAsked =
    storage.step === "refuse"
      ? no("ShrinkRefused", refusal(storage))
      : storage.step === "grow" || storage.step === "growing"
        ? no("Growing", `the volume grows to ${storage.to}`)
        : yes("AsAsked");
  if (ready)
    return {
      Ready: spec.hibernated ? no("Hibernated", "the server is stopped, its data are kept") : yes("Running"),
      StorageAsAsked,
    };
  if (!problem) return { StorageAsAsked };
  const { reason, message } = problem;
  return { Ready: no(reason, message), Degraded: yes(reason, message), StorageAsAsked };
}

/** Says once what is new. */
function tell(
  { spec, status }: Database,
  phase: "Creating" | "Running" | "Failed",
  problem: ServerProblem | undefined,
  events: EventSink,
): void {
  if (status?.phase === undefined) events.normal("Creating", `a server of version ${spec.version} is being made`);
  if (phase === "Running" && status?.phase !== "Running") events.normal("Running", "the server answers");
  const known = findCondition(status?.conditions, "Degraded");
  if (problem && known?.reason !== problem.reason) events.warning(problem.reason, problem.message);
}
