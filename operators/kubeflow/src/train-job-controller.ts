import { type Child, cacheKind, controller, ownedKind, permission, type ReconcileContext, watchKind } from "konverge";
import { Job as BatchJob, ConfigMap, Deployment, PersistentVolumeClaim, Pod, Secret, Service } from "konverge/kinds";
import { controllerOf } from "konverge/objects";
import type { WorkloadProblem } from "konverge/pods";
import { createJob, deleteJob, endOf } from "./batch-jobs.ts";
import type { JobResult } from "./clear-away.ts";
import { withoutStatus } from "./job-controller.ts";
import type { JobMetrics } from "./job-metrics.ts";
import { findKeys } from "./mpi-access.ts";
import { OPERATOR_NAME } from "./names.ts";
import { obstacleIn } from "./pod-trouble.ts";
import { TRAIN_MANAGER, TrainJob } from "./train-job.ts";
import { mpiObjectsFor, trainKeysName } from "./train-mpi.ts";
import { claimsFor, type Step, stepsOf, trainServiceFor } from "./train-plan.ts";
import { JOBSET_NAME, TRAIN_CONTROLLER } from "./train-pods.ts";
import { trainProblems } from "./train-rules.ts";
import { type FoundRuntime, runtimeCopyFor, runtimeKeys, runtimeOf } from "./train-runtime.ts";
import { endOfTraining, isFree, type StepStatus, stepStatus, TrainReport } from "./train-status.ts";
import { ClusterTrainingRuntime, TrainingRuntime } from "./training-runtime.ts";

/** Upstream's own operator, by the labels of its Deployment. */
const UPSTREAM = "app.kubernetes.io/part-of=kubeflow,app.kubernetes.io/name in (trainer, kubeflow-trainer)";
const LOOK_AGAIN = 300_000;
const BY_OWNER = "byOwner";
/** A server that refuses Jobs is asked again after this. */
const AFTER_REFUSAL = 30_000;

/**
 * Runs TrainJobs: what a JobSet would create from the runtime's template is created directly. Jobs are created and deleted,
 * never changed; the Service, the claims, the copy of the runtime, and the keys and hosts of MPI are applied and repaired.
 */
export function trainJobController(metrics: JobMetrics) {
  const labelSelector = `${OPERATOR_NAME}=${TRAIN_CONTROLLER}`;
  const to = ({ metadata }: Pod | BatchJob) => {
    const name = metadata.labels?.[JOBSET_NAME];
    return name ? [`${metadata.namespace}/${name}`] : [];
  };
  const byOwner = (object: Pod | BatchJob) => (controllerOf(object) ? [controllerOf(object)!.uid] : []);
  return controller(withoutStatus(TrainJob as never), {
    owns: [Service, ConfigMap, PersistentVolumeClaim, Secret].map((kind) =>
      ownedKind(kind as never, { labelSelector }),
    ),
    watches: [
      watchKind(Pod, { labelSelector, to, indexes: { [BY_OWNER]: byOwner } }),
      watchKind(BatchJob, { labelSelector, to, indexes: { [BY_OWNER]: byOwner } }),
      watchKind(TrainingRuntime, { references: (job) => runtimeKeys(job as TrainJob, "TrainingRuntime") }),
      watchKind(ClusterTrainingRuntime, {
        references: (job) => runtimeKeys(job as TrainJob, "ClusterTrainingRuntime"),
      }),
      cacheKind(Deployment, { labelSelector: UPSTREAM }),
    ],
    permissions: [
      permission(BatchJob, ["get", "create", "delete"], { why: "creates the nodes of each TrainJob" }),
      permission(TrainJob, ["update"], { subresource: "status" }),
    ],
    async reconcile(object, context): Promise<JobResult> {
      const [upstream] = context.cache.list(Deployment);
      if (upstream) {
        const where = `${upstream.metadata.namespace}/${upstream.metadata.name}`;
        context.events.warning("UpstreamOperator", `${where} reconciles TrainJobs; this operator ignores them`);
        return { requeueAfter: LOOK_AGAIN };
      }
      const job = object as unknown as TrainJob;
      return job.spec.managedBy === TRAIN_MANAGER ? reconcileTrainJob(job, context, metrics) : {};
    },
  });
}

async function reconcileTrainJob(job: TrainJob, context: ReconcileContext, metrics: JobMetrics): Promise<JobResult> {
  const { uid, namespace = "" } = job.metadata;
  const counted = { uid: uid!, namespace, framework: "trainjob" };
  const jobs = context.cache.find(BatchJob, BY_OWNER, uid!);
  const runtime = runtimeOf(job, context);
  const report = new TrainReport(job, context);
  if (report.isFinished) {
    metrics.job(report.find("Complete") ? "successful" : "failed", counted);
    return afterTheEnd(job, jobs, report, runtime, context);
  }
  if (!job.status) metrics.job("created", counted);
  if (job.spec.suspend) report.set("Suspended", "Suspended", "TrainJob is suspended");
  else if (report.find("Suspended")) report.set("Suspended", "Resumed", "TrainJob is resumed", "False");
  const problem = runtime ? specProblem(job, runtime) : missingRuntime(job);
  if (!runtime || problem) {
    report.troubled(problem);
    await report.publish(context);
    if (job.spec.suspend) await stop(jobs, context, "Foreground");
    return {};
  }
  return run(job, jobs, report, runtime, context);
}

async function run(
  job: TrainJob,
  jobs: readonly BatchJob[],
  report: TrainReport,
  runtime: FoundRuntime,
  context: ReconcileContext,
): Promise<JobResult> {
  const steps = stepsOf(job, runtime.spec);
  // A Job that is being deleted no longer counts; until it is gone, its name is taken.
  const live = jobs.filter(({ metadata }) => !metadata.deletionTimestamp);
  const statuses = steps.map((step) => stepStatus(step, live));
  const children = await childrenOf(job, runtime, context);
  if (job.spec.suspend) {
    report.jobs(
      statuses.map((status, index) => suspended(status, steps[index]!, isFree(steps[index]!, steps, statuses))),
    );
    await report.publish(context);
    // Others are created afterwards: the template may have changed, as Kueue changes it.
    await stop(jobs, context, "Foreground");
    return { children };
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
  const refusal = report.isFinished || !runtime.isStored ? undefined : await createJobs(job, missing, context);
  report.troubled(refusal ?? obstacleOf(live, context));
  await report.publish(context);
  const waits = [
    ...(refusal && refusal.reason !== "PodInvalid" ? [AFTER_REFUSAL] : []),
    ...(remaining !== undefined && !report.isFinished ? [Math.max(1, remaining)] : []),
  ];
  return waits.length > 0 ? { children, requeueAfter: Math.min(...waits) } : { children };
}

/** Jobs that still run go; what has ended stays with its logs, until its time to live is over. */
async function afterTheEnd(
  job: TrainJob,
  jobs: readonly BatchJob[],
  report: TrainReport,
  runtime: FoundRuntime | undefined,
  context: ReconcileContext,
): Promise<JobResult> {
  report.stopped();
  await report.publish(context);
  await stop(jobs, context);
  if (!runtime) return {};
  const { ttlSecondsAfterFinished: ttl } = runtime.spec.template.spec;
  const children = await childrenOf(job, runtime, context);
  if (ttl === undefined) return { children };
  const ended = (report.find("Complete") ?? report.find("Failed"))!.lastTransitionTime;
  const left = Date.parse(ended) + ttl * 1000 - context.clock.now();
  if (left > 0) return { children, requeueAfter: left };
  for (const one of jobs) await deleteJob(one, context);
  return { children: [runtimeCopyFor(job, runtime)] };
}

/** Deletes the Jobs that still run. */
async function stop(jobs: readonly BatchJob[], context: ReconcileContext, policy?: "Foreground"): Promise<void> {
  for (const one of jobs.filter((each) => !endOf(each))) await deleteJob(one, context, policy);
}

async function childrenOf(job: TrainJob, runtime: FoundRuntime, context: ReconcileContext): Promise<Child[]> {
  const { spec } = runtime;
  const service = trainServiceFor(job, spec);
  const keys = spec.mlPolicy?.mpi && (await findKeys(job, trainKeysName(job), context));
  return [
    runtimeCopyFor(job, runtime),
    ...(service ? [service] : []),
    ...claimsFor(job, spec),
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

async function createJobs(job: TrainJob, missing: readonly BatchJob[], context: ReconcileContext) {
  for (const draft of missing) {
    const problem = await createJob(job, draft, context);
    if (problem) return problem;
  }
  return undefined;
}

function obstacleOf(jobs: readonly BatchJob[], { cache }: ReconcileContext): WorkloadProblem | undefined {
  const pods = jobs.flatMap(({ metadata }) => cache.find(Pod, BY_OWNER, metadata.uid!));
  return obstacleIn(pods.map((pod) => ({ pod, type: "", index: 0, exitCode: undefined })));
}
