import {
  type Conditions,
  cacheKind,
  conditionFalse,
  conditionTrue,
  controller,
  isConflict,
  isNotFound,
  permission,
  type ReconcileContext,
  type ReconcileResult,
  watchKind,
} from "konverge";
import { Deployment, Job, Pod } from "konverge/kinds";
import { timestamp } from "konverge/time";
import type { RayFetch } from "./dashboard-request.ts";
import { tokenPermission } from "./ray-auth.ts";
import { CLUSTER, dashboardAddress } from "./ray-children.ts";
import { MULTIKUEUE, RayCluster } from "./ray-cluster.ts";
import { LOOK_AGAIN, UPSTREAM_DEPLOYMENT, upstreamWarning } from "./ray-controller.ts";
import { RayJob } from "./ray-job.ts";
import { jobCluster, jobIdOf, selectedCluster, submitterFor } from "./ray-job-children.ts";
import { deletionsOf } from "./ray-job-deletion.ts";
import { clusterOf, submissionOf } from "./ray-job-submission.ts";
import type { RayMetrics } from "./ray-metrics.ts";

type Status = NonNullable<ReconcileResult<RayJob>["status"]>;
type Result = ReconcileResult<RayJob>;

/**
 * Runs each RayJob on a dedicated cluster, or on one that is there: creates it, submits the job, follows it, tries again, and
 * clears away.
 */
export function rayJobs(metrics: RayMetrics, fetch: RayFetch) {
  return controller(RayJob, {
    owns: [RayCluster, Job],
    watches: [
      watchKind<RayCluster, RayJob>(RayCluster, {
        references: (job) => {
          const selected = selectedCluster(job);
          return selected ? [`${job.metadata.namespace}/${selected}`] : [];
        },
      }),
      cacheKind(Pod, { labelSelector: CLUSTER }),
      cacheKind(Deployment, { labelSelector: UPSTREAM_DEPLOYMENT }),
    ],
    permissions: [
      tokenPermission,
      permission(RayJob, ["delete"], {
        why: "deletes RayJobs with the deletion policy DeleteSelf when they have finished",
      }),
    ],
    async reconcile(job, context): Promise<Result> {
      const warning = upstreamWarning(context, "RayJobs");
      if (warning) {
        context.events.warning("UpstreamOperator", warning);
        return { requeueAfter: LOOK_AGAIN };
      }
      metrics.jobs = () => context.cache.list(RayJob);
      if (job.spec.managedBy === MULTIKUEUE) return {};
      const result = await nextOf(job, fetch, context);
      report(job, result.status!, context);
      return result;
    },
  });
}

async function nextOf(job: RayJob, fetch: RayFetch, context: ReconcileContext): Promise<Result> {
  const { jobDeploymentStatus: phase } = job.status ?? {};
  if (phase === "Complete" || phase === "Failed") return finished(job, kept(job), context);
  if (job.spec.suspend) return suspended(job, context);
  const { failed = 0 } = job.status ?? {};
  // What is left of an earlier try would take the room of the next.
  if ((phase === "Retrying" || phase === "Suspending" || phase === "Suspended") && objectsLeft(context)) {
    return resultOf(
      { ...kept(job), jobDeploymentStatus: phase },
      [],
      `${objectsLeft(context)} objects are still being deleted`,
    );
  }
  return tried(job, failed, fetch, context);
}

async function tried(job: RayJob, attempt: number, fetch: RayFetch, context: ReconcileContext): Promise<Result> {
  const { clock } = context;
  const cluster = clusterOf(job, attempt, context);
  const { startTime = timestamp(clock) } = kept(job);
  const isUsers = job.spec.submissionMode === "InteractiveMode";
  const status: Status = {
    ...counts(job),
    startTime,
    ...((!isUsers || job.spec.jobId) && { jobId: jobIdOf(job, attempt) }),
    rayClusterName: cluster.name,
    jobDeploymentStatus: "Initializing",
  };
  const deadline = deadlineOf(job, startTime);
  const left = deadline && deadline.at - clock.now();
  if (deadline && left !== undefined && left <= 0) {
    const { reason, message } = deadline;
    return ended(job, "Failed", { ...status, jobStatus: "STOPPED", reason, message }, context);
  }
  const submission = await submissionOf(job, attempt, cluster, fetch, context);
  const { phase, message, children, outcome } = submission;
  const times = [left, submission.requeueAfter].filter((time) => time !== undefined);
  const timer = times.length > 0 && { requeueAfter: Math.min(...times) };
  if (phase !== "Running")
    return { ...resultOf({ ...status, jobDeploymentStatus: phase }, children, message), ...timer };
  const target = (cluster.own ?? cluster.live) as RayCluster | undefined;
  const running: Status = {
    ...status,
    ...(target && { dashboardURL: dashboardAddress(target) }),
    jobDeploymentStatus: "Running",
  };
  if (!outcome) {
    const { jobStatus = "PENDING" } = submission;
    return { ...resultOf({ ...running, jobStatus }, children, message), ...timer };
  }
  const { failed = 0, succeeded = 0 } = counts(job);
  if (outcome.jobStatus === "SUCCEEDED") {
    return ended(job, "Complete", { ...running, ...outcome, succeeded: succeeded + 1 }, context);
  }
  // A job that a user stopped is not retried.
  if (outcome.jobStatus === "STOPPED") return ended(job, "Complete", { ...running, ...outcome }, context);
  const again = { ...running, ...outcome, failed: failed + 1 };
  if (failed < job.spec.backoffLimit) {
    return resultOf(
      { ...again, jobDeploymentStatus: "Retrying" },
      [],
      `try ${failed + 1} of ${job.spec.backoffLimit + 1} has failed: ${outcome.message}`,
    );
  }
  return ended(job, "Failed", again, context);
}

/** When a job has taken too long: all of it, or until it runs. */
function deadlineOf({ spec, status }: RayJob, startTime: string) {
  const { activeDeadlineSeconds: active, preRunningDeadlineSeconds: starting } = spec;
  const since = Date.parse(startTime);
  const all = active && {
    at: since + 1000 * active,
    reason: "DeadlineExceeded" as const,
    message: `it took longer than ${active} s`,
  };
  if (!starting || status?.jobDeploymentStatus === "Running" || (active && active <= starting)) return all || undefined;
  return {
    at: since + 1000 * starting,
    reason: "PreRunningDeadlineExceeded" as const,
    message: `it did not run within ${starting} s`,
  };
}

function suspended(job: RayJob, context: ReconcileContext): Result {
  const left = objectsLeft(context);
  const phase = left ? "Suspending" : "Suspended";
  const message = left ? `${left} objects are still being deleted` : "the job is suspended";
  return resultOf({ ...counts(job), jobDeploymentStatus: phase }, [], message);
}

function ended(job: RayJob, phase: "Complete" | "Failed", status: Status, context: ReconcileContext): Promise<Result> {
  return finished(job, { ...status, jobDeploymentStatus: phase, endTime: timestamp(context.clock) }, context);
}

/**
 * A finished job: what of it is to be deleted goes when it is time. The submitting Job stays with its log, unless it was
 * deleted: nothing is submitted again.
 */
async function finished(job: RayJob, status: Status, context: ReconcileContext): Promise<Result> {
  const { clock, observed } = context;
  const message = status.message ?? "";
  const { due, next } = deletionsOf({ ...job, status: { ...job.status, ...status } }, status.endTime, clock.now());
  if (due.has("DeleteSelf")) await deleteJob(job, context);
  const timer = next !== undefined && { requeueAfter: next };
  // Nothing else stops what takes too long.
  if (status.reason === "DeadlineExceeded" || status.reason === "PreRunningDeadlineExceeded")
    return { ...resultOf(status, [], message), ...timer };
  // The name of a dedicated cluster ends in the number of the try.
  const attempt = selectedCluster(job) ? 0 : Number(status.rayClusterName?.split("-").at(-1) ?? 0);
  const { own, live } = clusterOf(job, attempt, context);
  const target = (own ?? live) as RayCluster | undefined;
  const isByJob = job.spec.submissionMode === "K8sJobMode";
  const submitter = isByJob && target ? submitterFor(job, attempt, target) : undefined;
  const log = submitter && observed(submitter) ? [submitter] : [];
  // A cluster that is gone is not made again for what is left of its time.
  const isDeleted = due.has("DeleteCluster") || (!live && (due.size > 0 || next !== undefined));
  if (!own || isDeleted) return { ...resultOf(status, log, message), ...timer };
  return { ...resultOf(status, [jobCluster(job, attempt, !due.has("DeleteWorkers")), ...log], message), ...timer };
}

async function deleteJob({ metadata }: RayJob, { client, events }: ReconcileContext): Promise<void> {
  events.normal("Deleted", "the job has finished, and its deletion policy is DeleteSelf");
  const { uid } = metadata;
  // Direct write: an object cannot be its own child.
  await client
    .delete(RayJob, `${metadata.namespace}/${metadata.name}`, { ...(uid && { preconditions: { uid } }) })
    .catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    });
}

/** How many objects of the job there are. */
const objectsLeft = ({ observed }: ReconcileContext) => observed.all(RayCluster).length + observed.all(Job).length;

/** The status as it was reported, without what the framework adds. */
function kept({ status }: RayJob): Status {
  const { conditions: _c, observedGeneration: _o, ...rest } = status ?? {};
  return rest;
}

function counts({ status }: RayJob): Pick<Status, "succeeded" | "failed"> {
  const { succeeded, failed } = status ?? {};
  return { ...(succeeded !== undefined && { succeeded }), ...(failed !== undefined && { failed }) };
}

function resultOf(status: Status, children: NonNullable<Result["children"]>, message: string): Result {
  return { status, children, conditions: conditionsOf(status, message) };
}

/** Ready while the job runs or waits for its user, and when it has succeeded; what failed, or was stopped, does not become ready by waiting. */
function conditionsOf({ jobDeploymentStatus: phase, jobStatus, reason }: Status, message: string): Conditions {
  const isOver = phase === "Complete" || phase === "Failed";
  const isBad = isOver && jobStatus !== "SUCCEEDED";
  const isReady = phase === "Running" || phase === "Waiting" || (isOver && !isBad);
  const why = (isBad && (reason ?? "Stopped")) || phase!;
  return {
    Ready: isReady ? conditionTrue(why, message) : conditionFalse(why, message),
    Progressing:
      isOver || phase === "Suspended" || phase === "Waiting"
        ? conditionFalse(why, message)
        : conditionTrue(why, message),
    Degraded: isBad ? conditionTrue(why, message) : conditionFalse("AsExpected"),
    Stalled: isBad ? conditionTrue(why, message) : undefined,
    // A finished job needs nothing of its cluster.
    ...(isOver && { Reconciling: undefined }),
  };
}

/** Emits an event for each phase that a job enters. */
function report(
  { status: before }: RayJob,
  { jobDeploymentStatus: phase, reason, message }: Status,
  context: ReconcileContext,
): void {
  if (before?.jobDeploymentStatus === phase || !phase) return;
  if (phase === "Failed" || phase === "Retrying") context.events.warning(reason ?? phase, message ?? phase);
  else context.events.normal(phase, EVENTS[phase]);
}

const EVENTS = {
  Initializing: "its cluster is being created",
  Waiting: "its cluster waits for a job of the user",
  Running: "the job is submitted",
  Complete: "the job has ended",
  Suspending: "its cluster is being deleted",
  Suspended: "the job is suspended",
} as const;
