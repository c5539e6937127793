import {
  type Child,
  cacheKind,
  controller,
  type KubeObject,
  ownedKind,
  plannedChild,
  type ReconcileContext,
  type ReconcileResult,
  watchKind,
} from "konverge";
import { Job as BatchJob, ConfigMap, Deployment, Pod, Secret, Service } from "konverge/kinds";
import { controllerOf } from "konverge/objects";
import { timestamp } from "konverge/time";
import { endOf } from "./batch-jobs.ts";
import { refusalIn, reportChildren } from "./child-events.ts";
import type { Job } from "./job.ts";
import { podFor } from "./job-children.ts";
import { holds, isFinished } from "./job-conditions.ts";
import { isActive, type JobPod, jobPod, type OwnPod, phaseOf } from "./job-pods.ts";
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
import { obstacleIn } from "./pod-problems.ts";
import { publish } from "./publish.ts";
import { survey } from "./survey.ts";

/** Upstream's own operator, by the label of its Deployment. */
const UPSTREAM = "app.kubernetes.io/name=mpi-operator";
/** How often the removal of upstream's operator is checked, in milliseconds. */
const UPSTREAM_CHECK_INTERVAL = 300_000;
const PODS_BY_OWNER = "byOwner";

type MpiResult = ReconcileResult<MPIJob>;

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
  return controller(MPIJob, {
    owns: [
      ...[Service, ConfigMap, Secret].map((kind) => ownedKind(kind, { labelSelector })),
      ...[Pod, BatchJob].map((kind) => ownedKind(kind, { labelSelector, createOnly: true })),
    ],
    watches: [
      // The launcher's pods belong to its Job.
      watchKind<Pod, MPIJob>(Pod, {
        labelSelector,
        to({ metadata }) {
          const name = metadata.labels?.[JOB_NAME];
          return name ? [`${metadata.namespace}/${name}`] : [];
        },
        indexes: { [PODS_BY_OWNER]: (pod) => (controllerOf(pod) ? [controllerOf(pod)!.uid] : []) },
      }),
      cacheKind(Deployment, { labelSelector: UPSTREAM }),
    ],
    // Upstream's status has no observedGeneration, and the last of its conditions is taken for the job's state.
    status: "whole",
    async reconcile(object, context): Promise<MpiResult> {
      const [upstream] = context.cache.list(Deployment);
      if (upstream) {
        const where = `${upstream.metadata.namespace}/${upstream.metadata.name}`;
        context.events.warning("UpstreamOperator", `${where} reconciles MPIJobs; this operator ignores them`);
        return { requeueAfter: UPSTREAM_CHECK_INTERVAL };
      }
      const { managedBy = MPI_MANAGER } = object.spec.runPolicy ?? {};
      if (managedBy !== MPI_MANAGER) return {};
      const result = await reconcileMpiJob(object, context, tools);
      return {
        ...result,
        report(outcome) {
          reportChildren(outcome, context.events, tools.metrics);
          return result.report?.(outcome);
        },
      };
    },
  });
}

async function reconcileMpiJob(object: MPIJob, context: ReconcileContext, shared: MpiTools): Promise<MpiResult> {
  const { observed, clock, events } = context;
  const job = jobOf(object);
  const launcher = launcherOf(object, context);
  const framework = mpi(launcher);
  const tools: Tools<MPIJob> = { ...shared, gang: undefined, framework };
  const pods = observed.all(Pod).flatMap((pod) => jobPod(pod, framework) ?? []);
  if (isFinished(job.status)) {
    const applied = await childrenOf(object, pods, context, shared);
    return {
      children: [...applied, ...leftAtTheEnd(job, pods, launcher)],
      wholeStatus: statusAtTheEnd(job, context, tools),
    };
  }
  const report = new JobReport("MPIJob", job.status, timestamp(clock));
  const name = `${job.namespace}/${job.name}`;
  report.created(`MPIJob ${name} is created.`);
  if (!job.status.conditions) tools.metrics.job("created", counted(job, tools));
  const [wrong] = tools.rules.problems(object);
  if (wrong) {
    report.stalled({ reason: "InvalidSpec", message: `${wrong.field}: ${wrong.message}` });
    return { wholeStatus: publish(job, report, events, tools) };
  }
  if (job.runPolicy.suspend) {
    report.suspended("MPIJob suspended");
    const { Worker: { active: _w, ...worker } = {}, Launcher: { active: _l, ...first } = {} } =
      job.status.replicaStatuses ?? {};
    report.replicas({ ...(launcher.job && { Launcher: first }), Worker: worker });
    // Another launcher is created afterwards: the template may have changed, as Kueue changes it.
    const children = await childrenOf(object, [], context, shared);
    return { children, wholeStatus: publish(job, report, events, tools) };
  }
  if (holds(job.status.conditions, "Suspended")) report.resumed("MPIJob resumed");
  return run(object, { job, pods, launcher, report, tools, shared }, context);
}

/** What a reconcile of a job that is to run goes by. */
interface MpiRun {
  readonly job: Job<MPIJob>;
  readonly pods: readonly OwnPod[];
  readonly launcher: Launcher;
  readonly report: JobReport;
  readonly tools: Tools<MPIJob>;
  readonly shared: MpiTools;
}

async function run(object: MPIJob, found: MpiRun, context: ReconcileContext): Promise<MpiResult> {
  const { job, pods, launcher, report, tools, shared } = found;
  const { restarts, surplus, missing } = survey(job, pods, tools.framework, report);
  const launchers = launcher.pods.map((pod) => ({ pod, type: "launcher", index: 0, exitCode: undefined }));
  if (report.isFinished) {
    report.stalled(obstacleIn([...pods, ...launchers]));
    return { wholeStatus: publish(job, report, context.events, tools) };
  }
  // Pods are restarted once that is reported.
  const unwanted = new Set([...(report.isStored ? restarts : []), ...surplus]);
  const drafts = missing.map((member) => podFor(job, member, tools.framework));
  const created = [...drafts, ...(isLauncherDue(object, pods, launcher) ? [launcherFor(object)] : [])];
  return {
    children: [
      ...(await childrenOf(object, pods, context, shared)),
      ...pods.filter((one) => !unwanted.has(one)).map(({ pod }) => pod),
      ...(launcher.job ? [launcher.job] : []),
      ...created.map((draft) => plannedChild<KubeObject>(draft, { onRefused: "report" })),
    ],
    report(outcome) {
      const problem = refusalIn(outcome);
      report.stalled(problem ?? obstacleIn([...pods, ...launchers]));
      const isNews = problem !== undefined && !report.knows(problem);
      if (isNews && outcome.refused[0]!.child.kind === "Pod")
        context.events.warning("FailedCreatePod", `Error creating: ${outcome.refused[0]!.message}`);
      return { wholeStatus: publish(job, report, context.events, tools) };
    },
  };
}

function jobOf(object: MPIJob): Job<MPIJob> {
  const { name, namespace = "" } = object.metadata;
  const { Worker: worker } = object.spec.mpiReplicaSpecs;
  const restartPolicy = worker?.restartPolicy ?? "Never";
  const replica = { type: "Worker", count: workerCount(object), restartPolicy, template: worker?.template ?? {} };
  const { runPolicy = {} } = object.spec;
  return { object, name, namespace, replicas: worker ? [replica] : [], runPolicy, status: object.status ?? {} };
}

function launcherOf(object: MPIJob, { observed, cache }: ReconcileContext): Launcher {
  const job = observed(BatchJob, launcherName(object));
  if (!job) return { job: undefined, pods: [] };
  return { job, pods: cache.find(Pod, PODS_BY_OWNER, job.metadata.uid!) };
}

async function childrenOf(
  object: MPIJob,
  pods: readonly OwnPod[],
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

/** Whether it is time to create the launcher. */
function isLauncherDue(object: MPIJob, pods: readonly OwnPod[], { job }: Launcher): boolean {
  const isReady = ({ pod }: JobPod) =>
    pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const waits = object.spec.launcherCreationPolicy === "WaitForWorkersReady";
  return !job && (!waits || pods.filter(isReady).length >= workerCount(object));
}

function statusAtTheEnd(job: Job<MPIJob>, { events }: ReconcileContext, tools: Tools<MPIJob>) {
  const report = new JobReport("MPIJob", job.status, "");
  const { Worker: { active: _, ...worker } = {}, ...others } = job.status.replicaStatuses ?? {};
  const isCleaned = (job.runPolicy.cleanPodPolicy ?? "None") !== "None";
  if (isCleaned) report.replicas({ ...others, ...(job.replicas.length > 0 && { Worker: worker }) });
  return publish(job, report, events, tools);
}

/** Workers go as the policy says; the launcher stays with its logs, unless the job ended before it did. */
function leftAtTheEnd({ runPolicy }: Job<MPIJob>, pods: readonly OwnPod[], { job }: Launcher): Child[] {
  const { cleanPodPolicy = "None" } = runPolicy;
  const kept = pods.filter((one) => cleanPodPolicy === "None" || (cleanPodPolicy === "Running" && !isActive(one)));
  return [...kept.map(({ pod }) => pod), ...(job && endOf(job) ? [job] : [])];
}
