import {
  type Child,
  cacheKind,
  controller,
  type ObservedChild,
  ownedKind,
  plannedChild,
  type ReconcileContext,
  type ReconcileResult,
  watchKind,
} from "konverge";
import { Job as BatchJob, ConfigMap, Deployment, PersistentVolumeClaim, Pod, Secret, Service } from "konverge/kinds";
import { controllerOf } from "konverge/objects";
import type { WorkloadProblem } from "konverge/pods";
import { endOf } from "./batch-jobs.ts";
import { refusalIn, reportChildren } from "./child-events.ts";
import type { JobMetrics } from "./job-metrics.ts";
import { findKeys } from "./mpi-access.ts";
import { OPERATOR_NAME } from "./names.ts";
import { obstacleIn } from "./pod-problems.ts";
import { TRAIN_MANAGER, TrainJob } from "./train-job.ts";
import { mpiObjectsFor, trainKeysName } from "./train-mpi.ts";
import { claimsFor, type Step, stepsOf, trainServiceFor } from "./train-plan.ts";
import { PluginPodGroup, podGroupKind, podGroupsFor, VolcanoPodGroup } from "./train-pod-group.ts";
import { JOBSET_NAME, TRAIN_CONTROLLER } from "./train-pods.ts";
import { trainProblems } from "./train-rules.ts";
import { type FoundRuntime, runtimeCopyFor, runtimeKeys, runtimeOf } from "./train-runtime.ts";
import { endOfTraining, isFree, type StepStatus, stepStatus, TrainReport } from "./train-status.ts";
import { ClusterTrainingRuntime, TrainingRuntime } from "./training-runtime.ts";

/** Upstream's own operator, by the labels of its Deployment. */
const UPSTREAM = "app.kubernetes.io/part-of=kubeflow,app.kubernetes.io/name in (trainer, kubeflow-trainer)";
/** How often the removal of upstream's operator is checked, in milliseconds. */
const UPSTREAM_CHECK_INTERVAL = 300_000;
const BY_OWNER = "byOwner";

type TrainResult = ReconcileResult<TrainJob>;

/**
 * Runs TrainJobs: what a JobSet would create from the runtime's template is created directly. Jobs are created and deleted,
 * never changed; the Service, the claims, the copy of the runtime, and the keys and hosts of MPI are applied and repaired.
 */
export function trainJobController(metrics: JobMetrics) {
  const labelSelector = `${OPERATOR_NAME}=${TRAIN_CONTROLLER}`;
  return controller(TrainJob, {
    owns: [
      ...[Service, ConfigMap, PersistentVolumeClaim, Secret].map((kind) => ownedKind(kind, { labelSelector })),
      ownedKind(VolcanoPodGroup, { labelSelector, optional: true }),
      ownedKind(PluginPodGroup, { labelSelector, optional: true }),
      ownedKind(BatchJob, { labelSelector, createOnly: true, deletion: "foreground" }),
    ],
    watches: [
      watchKind<Pod, TrainJob>(Pod, {
        labelSelector,
        to({ metadata }) {
          const name = metadata.labels?.[JOBSET_NAME];
          return name ? [`${metadata.namespace}/${name}`] : [];
        },
        indexes: { [BY_OWNER]: (pod) => (controllerOf(pod) ? [controllerOf(pod)!.uid] : []) },
      }),
      watchKind<TrainingRuntime, TrainJob>(TrainingRuntime, {
        references: (job) => runtimeKeys(job, "TrainingRuntime"),
      }),
      watchKind<ClusterTrainingRuntime, TrainJob>(ClusterTrainingRuntime, {
        references: (job) => runtimeKeys(job, "ClusterTrainingRuntime"),
      }),
      cacheKind(Deployment, { labelSelector: UPSTREAM }),
    ],
    // Upstream's status has no observedGeneration, and the last of its conditions is taken for the job's state.
    status: "whole",
    async reconcile(job, context): Promise<TrainResult> {
      const [upstream] = context.cache.list(Deployment);
      if (upstream) {
        const where = `${upstream.metadata.namespace}/${upstream.metadata.name}`;
        context.events.warning("UpstreamOperator", `${where} reconciles TrainJobs; this operator ignores them`);
        return { requeueAfter: UPSTREAM_CHECK_INTERVAL };
      }
      return job.spec.managedBy === TRAIN_MANAGER ? reconcileTrainJob(job, context, metrics) : {};
    },
  });
}

async function reconcileTrainJob(job: TrainJob, context: ReconcileContext, metrics: JobMetrics): Promise<TrainResult> {
  const { uid, namespace = "" } = job.metadata;
  const counted = { uid: uid!, namespace, framework: "trainjob" };
  const jobs = context.observed.all(BatchJob);
  const runtime = runtimeOf(job, context);
  const report = new TrainReport(job, context);
  if (report.isFinished) {
    metrics.job(report.find("Complete") ? "successful" : "failed", counted);
    return withEvents(await afterTheEnd(job, jobs, report, runtime, context), context, metrics);
  }
  if (!job.status) metrics.job("created", counted);
  if (job.spec.suspend) report.set("Suspended", "Suspended", "TrainJob is suspended");
  else if (report.find("Suspended")) report.set("Suspended", "Resumed", "TrainJob is resumed", "False");
  const problem = runtime ? (specProblem(job, runtime) ?? groupProblem(runtime, context)) : missingRuntime(job);
  if (!runtime || problem) {
    report.stalled(problem);
    const wholeStatus = report.publish(context);
    if (!job.spec.suspend || !runtime) return { wholeStatus };
    const children = [...(await childrenOf(job, runtime, context)), ...jobs.filter(endOf)];
    return withEvents({ children, wholeStatus }, context, metrics);
  }
  return withEvents(await run(job, jobs, report, runtime, context), context, metrics);
}

/** The result, with an event for each child that it creates or deletes. */
function withEvents(result: TrainResult, { events }: ReconcileContext, metrics: JobMetrics): TrainResult {
  return {
    ...result,
    report(outcome) {
      reportChildren(outcome, events, metrics);
      return result.report?.(outcome);
    },
  };
}

async function run(
  job: TrainJob,
  jobs: readonly ObservedChild<BatchJob>[],
  report: TrainReport,
  runtime: FoundRuntime,
  context: ReconcileContext,
): Promise<TrainResult> {
  const steps = stepsOf(job, runtime.spec);
  // A terminating Job no longer counts, but keeps its name until it is deleted.
  const live = jobs.filter(({ metadata }) => !metadata.deletionTimestamp);
  const statuses = steps.map((step) => stepStatus(step, live));
  const children = await childrenOf(job, runtime, context);
  if (job.spec.suspend) {
    report.jobs(
      statuses.map((status, index) => suspended(status, steps[index]!, isFree(steps[index]!, steps, statuses))),
    );
    // Others are created afterwards: the template may have changed, as Kueue changes it.
    return { children: [...children, ...jobs.filter(endOf)], wholeStatus: report.publish(context) };
  }
  report.jobs(statuses);
  const remaining = untilDeadline(job, report, context);
  const end = endOfTraining(runtime.spec, steps, live);
  if (end) report.set(end.type, end.reason, end.message);
  else if (remaining !== undefined && remaining <= 0)
    report.set("Failed", "DeadlineExceeded", "TrainJob exceeded its active deadline");
  // Jobs are created from the copy of the runtime only: whatever happens in between, all of them are from the same one.
  const taken = new Set(jobs.map(({ metadata }) => metadata.name));
  const missing = steps
    .filter((step) => isFree(step, steps, statuses))
    .flatMap((step) => step.jobs.filter(({ metadata }) => !taken.has(metadata.name)));
  const created = report.isFinished || !runtime.isStored ? [] : missing;
  return {
    // What still runs at the end is deleted once the end is stored.
    children: [...children, ...jobs, ...created.map((draft) => plannedChild(draft, { onRefused: "report" }))],
    ...(remaining !== undefined && !report.isFinished && { requeueAfter: Math.max(1, remaining) }),
    report(outcome) {
      report.stalled(refusalIn(outcome) ?? obstacleOf(live, context));
      return { wholeStatus: report.publish(context) };
    },
  };
}

/** Jobs that still run go; what has ended stays with its logs, until its time to live is over. */
async function afterTheEnd(
  job: TrainJob,
  jobs: readonly ObservedChild<BatchJob>[],
  report: TrainReport,
  runtime: FoundRuntime | undefined,
  context: ReconcileContext,
): Promise<TrainResult> {
  report.stopped();
  const wholeStatus = report.publish(context);
  if (!runtime) return { wholeStatus };
  const { ttlSecondsAfterFinished: ttl } = runtime.spec.template.spec;
  const children = [...(await childrenOf(job, runtime, context)), ...jobs.filter(endOf)];
  if (ttl === undefined) return { children, wholeStatus };
  const ended = (report.find("Complete") ?? report.find("Failed"))!.lastTransitionTime;
  const left = Date.parse(ended) + ttl * 1000 - context.clock.now();
  if (left > 0) return { children, wholeStatus, requeueAfter: left };
  return { children: [runtimeCopyFor(job, runtime)], wholeStatus };
}

async function childrenOf(job: TrainJob, runtime: FoundRuntime, context: ReconcileContext): Promise<Child[]> {
  const { spec } = runtime;
  const service = trainServiceFor(job, spec);
  const keys = spec.mlPolicy?.mpi && (await findKeys(job, trainKeysName(job), context));
  return [
    runtimeCopyFor(job, runtime),
    ...(service ? [service] : []),
    ...claimsFor(job, spec),
    ...(groupProblem(runtime, context) ? [] : podGroupsFor(job, spec, stepsOf(job, spec))),
    ...mpiObjectsFor(job, spec, keys, context.clock.secrets),
  ];
}

function missingRuntime({ spec }: TrainJob): WorkloadProblem {
  const { kind, name } = spec.runtimeRef;
  const message = `there is no ${kind} ${name}: create it, and the job starts`;
  return { reason: "RuntimeNotFound", message };
}

/** A job that has a copy of its runtime was valid with it; only its patches can have changed since then. */
function specProblem(job: TrainJob, { spec }: FoundRuntime): WorkloadProblem | undefined {
  const [wrong] = trainProblems(job, spec);
  return wrong && { reason: "InvalidSpec", message: `${wrong.field}: ${wrong.message}` };
}

/** Pods that are to be placed together are not created where nothing knows of their group. */
function groupProblem({ spec }: FoundRuntime, { isServed }: ReconcileContext): WorkloadProblem | undefined {
  const kind = podGroupKind(spec);
  if (!kind || isServed(kind)) return undefined;
  const message = `the cluster has no ${kind.group} PodGroups, which the runtime's podGroupPolicy needs: install the scheduler`;
  return { reason: "NoGangScheduler", message };
}

/** A JobSet's Jobs would be there, suspended; here they are created when the job is resumed. */
function suspended(status: StepStatus, { jobs }: Step, isNext: boolean): StepStatus {
  const rest = isNext ? Math.max(0, jobs.length - status.succeeded - status.failed) : 0;
  return { ...status, ready: 0, active: 0, suspended: rest };
}

/** Milliseconds that a job may go on; undefined without a limit. */
function untilDeadline({ metadata, spec, status }: TrainJob, report: TrainReport, { clock }: ReconcileContext) {
  const { activeDeadlineSeconds } = spec;
  if (activeDeadlineSeconds === undefined || report.isFinished) return undefined;
  const suspension = status?.conditions?.find(({ type }) => type === "Suspended");
  // It has been resumed just now.
  if (suspension?.status === "True") return activeDeadlineSeconds * 1000;
  const start = suspension?.lastTransitionTime ?? metadata.creationTimestamp;
  return start === undefined ? undefined : Date.parse(start) + activeDeadlineSeconds * 1000 - clock.now();
}

function obstacleOf(jobs: readonly BatchJob[], { cache }: ReconcileContext): WorkloadProblem | undefined {
  const pods = jobs.flatMap(({ metadata }) => cache.find(Pod, BY_OWNER, metadata.uid!));
  return obstacleIn(pods.map((pod) => ({ pod, type: "", index: 0, exitCode: undefined })));
}
