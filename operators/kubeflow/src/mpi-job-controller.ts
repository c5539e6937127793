import { type Child, cacheKind, controller, ownedKind, permission, type ReconcileContext, watchKind } from "konverge";
import { Job as BatchJob, ConfigMap, Deployment, Pod, Secret, Service } from "konverge/kinds";
import { controllerOf, isControlledBy } from "konverge/objects";
import { timestamp } from "konverge/time";
import { createJob, deleteJob, endOf } from "./batch-jobs.ts";
import type { JobResult } from "./clear-away.ts";
import type { Job, JobObject } from "./job.ts";
import { holds, isFinished } from "./job-conditions.ts";
import { withoutStatus } from "./job-controller.ts";
import { createPods, deletePods } from "./job-pod-writes.ts";
import { isActive, type JobPod, jobPod, phaseOf } from "./job-pods.ts";
import { JobReport } from "./job-report.ts";
import { counted, type Tools } from "./job-tools.ts";
import { findKeys } from "./mpi-access.ts";
import {
  hostsFor,
  keysName,
  launcherFor,
  launcherName,
  MPI_OPERATOR,
  mpiServiceFor,
  workerCount,
  workerKeysFor,
} from "./mpi-children.ts";
import { type Launcher, mpi } from "./mpi-framework.ts";
import { MPI_MANAGER, MPIJob } from "./mpi-job.ts";
import { JOB_NAME, OPERATOR_NAME } from "./names.ts";
import { obstacleIn } from "./pod-trouble.ts";
import { publish } from "./publish.ts";
import { survey } from "./survey.ts";

/** Upstream's own operator, by the label of its Deployment. */
const UPSTREAM = "app.kubernetes.io/name=mpi-operator";
const LOOK_AGAIN = 300_000;
const PODS_BY_OWNER = "byOwner";
/** A server that refuses pods is asked again after this. */
const AFTER_REFUSAL = 30_000;

/** What the controller of MPIJobs needs besides what all jobs do. */
export interface MpiTools extends Omit<Tools<MPIJob>, "framework" | "gang"> {
  /** Domain suffix of the hosts' names. */
  readonly clusterDomain: string | undefined;
}

/**
 * Runs MPIJobs: workers that wait for connections, and a Job that starts processes on them. Like the pods of other jobs, workers
 * and launcher are created and deleted, never changed; Service, hosts and keys are applied and repaired.
 */
export function mpiJobController(tools: MpiTools) {
  const labelSelector = `${OPERATOR_NAME}=${MPI_OPERATOR}`;
  const byName = ({ metadata }: Pod) => {
    const name = metadata.labels?.[JOB_NAME];
    return name ? [`${metadata.namespace}/${name}`] : [];
  };
  return controller(withoutStatus<JobObject>(MPIJob as never), {
    owns: [Service, ConfigMap, Secret].map((kind) => ownedKind(kind as never, { labelSelector })),
    watches: [
      watchKind(Pod, {
        labelSelector,
        to: byName,
        indexes: { [PODS_BY_OWNER]: (pod) => (controllerOf(pod) ? [controllerOf(pod)!.uid] : []) },
      }),
      watchKind(BatchJob, { labelSelector, to: byName as never }),
      cacheKind(Deployment, { labelSelector: UPSTREAM }),
    ],
    permissions: [
      permission(Pod, ["get", "create", "delete"], {
        why: "creates the workers of each MPIJob, and deletes those that must restart or are done",
      }),
      permission(BatchJob, ["get", "create", "delete"], { why: "creates the launcher of each MPIJob" }),
      permission(MPIJob, ["update"], { subresource: "status" }),
    ],
    async reconcile(object, context): Promise<JobResult> {
      const [upstream] = context.cache.list(Deployment);
      if (upstream) {
        const where = `${upstream.metadata.namespace}/${upstream.metadata.name}`;
        context.events.warning("UpstreamOperator", `${where} reconciles MPIJobs; this operator ignores them`);
        return { requeueAfter: LOOK_AGAIN };
      }
      const { managedBy = MPI_MANAGER } = object.spec.runPolicy ?? {};
      return managedBy === MPI_MANAGER ? reconcileMpiJob(object as unknown as MPIJob, context, tools) : {};
    },
  });
}

async function reconcileMpiJob(object: MPIJob, context: ReconcileContext, shared: MpiTools): Promise<JobResult> {
  const { cache, clock } = context;
  const job = jobOf(object);
  const launcher = launcherOf(object, context);
  const framework = mpi(launcher);
  const tools: Tools<MPIJob> = { ...shared, gang: undefined, framework };
  const pods = cache
    .find(Pod, PODS_BY_OWNER, object.metadata.uid!)
    .flatMap((pod) => jobPod(pod, framework as never) ?? []);
  if (isFinished(job.status)) {
    await afterTheEnd(job, pods, launcher, context, tools);
    return { children: await childrenOf(object, pods, context, shared) };
  }
  const report = new JobReport("MPIJob", job.status, timestamp(clock));
  const name = `${job.namespace}/${job.name}`;
  report.created(`MPIJob ${name} is created.`);
  if (!job.status.conditions) tools.metrics.job("created", counted(job, tools));
  const [wrong] = tools.rules.problems(object);
  if (wrong) {
    report.troubled({ reason: "InvalidSpec", message: `${wrong.field}: ${wrong.message}` });
    await publish(job, report, context, tools);
    return {};
  }
  if (job.runPolicy.suspend) {
    report.suspended("MPIJob suspended");
    const { Worker: { active: _w, ...worker } = {}, Launcher: { active: _l, ...first } = {} } =
      job.status.replicaStatuses ?? {};
    report.replicas({ ...(launcher.job && { Launcher: first }), Worker: worker });
    await publish(job, report, context, tools);
    // Another launcher is created afterwards: the template may have changed, as Kueue changes it.
    await deleteJob(launcher.job, context);
    await deletePods(pods, context, tools);
    return { children: await childrenOf(object, [], context, shared) };
  }
  if (holds(job.status.conditions, "Suspended")) report.resumed("MPIJob resumed");
  const found = survey(job, pods, framework, report);
  const problem = report.isFinished ? undefined : await createPods(job, found.missing, report, context, tools);
  const taken = report.isFinished || problem ? undefined : await createLauncher(object, pods, launcher, context);
  const trouble = problem ?? taken;
  const launchers = launcher.pods.map((pod) => ({ pod, type: "launcher", index: 0, exitCode: undefined }));
  report.troubled(trouble ?? obstacleIn([...pods, ...launchers]));
  await publish(job, report, context, tools);
  if (report.isFinished) return {};
  await deletePods([...found.restarts, ...found.surplus], context, tools);
  const children = await childrenOf(object, pods, context, shared);
  return trouble && trouble.reason !== "PodInvalid" ? { children, requeueAfter: AFTER_REFUSAL } : { children };
}

function jobOf(object: MPIJob): Job<MPIJob> {
  const { name, namespace = "" } = object.metadata;
  const { Worker: worker } = object.spec.mpiReplicaSpecs;
  const restartPolicy = worker?.restartPolicy ?? "Never";
  const replica = { type: "Worker", count: workerCount(object), restartPolicy, template: worker?.template ?? {} };
  const { runPolicy = {} } = object.spec;
  return { object, name, namespace, replicas: worker ? [replica] : [], runPolicy, status: object.status ?? {} };
}

function launcherOf(object: MPIJob, { cache }: ReconcileContext): Launcher {
  const job = cache.get(BatchJob, `${object.metadata.namespace}/${launcherName(object)}`);
  if (!job || !isControlledBy(job, object)) return { job: undefined, pods: [] };
  return { job, pods: cache.find(Pod, PODS_BY_OWNER, job.metadata.uid!) };
}

async function childrenOf(
  object: MPIJob,
  pods: readonly JobPod[],
  context: ReconcileContext,
  { clusterDomain }: MpiTools,
): Promise<Child[]> {
  const running = pods.filter((one) => isActive(one) && phaseOf(one) === "Running").map(({ pod }) => pod);
  const keys = await findKeys(object, keysName(object), context);
  return [
    mpiServiceFor(object),
    hostsFor(object, running, clusterDomain),
    workerKeysFor(object, keys, context.clock.secrets),
  ];
}

/** Creates the launcher when it is time; what is in its way, if anything is. */
async function createLauncher(object: MPIJob, pods: readonly JobPod[], { job }: Launcher, context: ReconcileContext) {
  const isReady = ({ pod }: JobPod) =>
    pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const waits = object.spec.launcherCreationPolicy === "WaitForWorkersReady";
  if (job || (waits && pods.filter(isReady).length < workerCount(object))) return undefined;
  return createJob(object, launcherFor(object), context);
}

/** Workers go as the policy says; the launcher stays with its logs, unless the job ended before it did. */
async function afterTheEnd(
  job: Job<MPIJob>,
  pods: readonly JobPod[],
  launcher: Launcher,
  context: ReconcileContext,
  tools: Tools<MPIJob>,
): Promise<void> {
  const { cleanPodPolicy = "None" } = job.runPolicy;
  const report = new JobReport("MPIJob", job.status, "");
  const { Worker: { active: _, ...worker } = {}, ...others } = job.status.replicaStatuses ?? {};
  if (cleanPodPolicy !== "None") report.replicas({ ...others, ...(job.replicas.length > 0 && { Worker: worker }) });
  await publish(job, report, context, tools);
  if (!endOf(launcher.job)) await deleteJob(launcher.job, context);
  if (cleanPodPolicy !== "None") {
    await deletePods(
      pods.filter((one) => cleanPodPolicy === "All" || isActive(one)),
      context,
      tools,
    );
  }
}
