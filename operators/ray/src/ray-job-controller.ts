import {
  type Conditions,
  cacheKind,
  conditionFalse,
  conditionTrue,
  controller,
  findCondition,
  type ReconcileContext,
  type ReconcileResult,
} from "konverge";
import { Deployment, Job } from "konverge/kinds";
import { timestamp } from "konverge/time";
import { RayCluster } from "./ray-cluster.ts";
import { LOOK_AGAIN, UPSTREAM_DEPLOYMENT, upstreamWarning } from "./ray-controller.ts";
import { RayJob } from "./ray-job.ts";
import { dashboardOf, jobCluster, jobIdOf, outcomeOf, submitterFor } from "./ray-job-children.ts";
import type { RayMetrics } from "./ray-metrics.ts";

type Status = NonNullable<ReconcileResult<RayJob>["status"]>;
type Result = ReconcileResult<RayJob>;

/** Runs each RayJob on a dedicated cluster: creates it, submits the job, follows it, tries again, and clears away. */
export function rayJobs(metrics: RayMetrics) {
  return controller(RayJob, {
    owns: [RayCluster, Job],
    watches: [cacheKind(Deployment, { labelSelector: UPSTREAM_DEPLOYMENT })],
    reconcile(job, context): Result {
      const warning = upstreamWarning(context, "RayJobs");
      if (warning) {
        context.events.warning("UpstreamOperator", warning);
        return { requeueAfter: LOOK_AGAIN };
      }
      metrics.jobs = () => context.cache.list(RayJob);
      const result = nextOf(job, context);
      report(job, result.status!, context);
      return result;
    },
  });
}

function nextOf(job: RayJob, context: ReconcileContext): Result {
  const { jobDeploymentStatus: phase } = job.status ?? {};
  if (phase === "Complete" || phase === "Failed") return finished(job, kept(job), context);
  if (job.spec.suspend) return suspended(job, context);
  const { failed = 0 } = job.status ?? {};
  // What is left of an earlier try would take the room of the next.
  if ((phase === "Retrying" || phase === "Suspending" || phase === "Suspended") && objectsLeft(context)) {
    return told(
      { ...kept(job), jobDeploymentStatus: phase },
      [],
      `${objectsLeft(context)} objects are still being deleted`,
    );
  }
  return tried(job, failed, context);
}

function tried(job: RayJob, attempt: number, context: ReconcileContext): Result {
  const { observed, clock } = context;
  const cluster = jobCluster(job, attempt);
  const { startTime = timestamp(clock) } = kept(job);
  const status: Status = {
    ...counts(job),
    startTime,
    jobId: jobIdOf(job, attempt),
    rayClusterName: cluster.metadata.name,
    jobDeploymentStatus: "Initializing",
  };
  const { activeDeadlineSeconds } = job.spec;
  const left = activeDeadlineSeconds && Date.parse(startTime) + 1000 * activeDeadlineSeconds - clock.now();
  if (left !== undefined && left <= 0) {
    const message = `it took longer than ${activeDeadlineSeconds} s`;
    return ended(job, "Failed", { ...status, jobStatus: "STOPPED", reason: "DeadlineExceeded", message }, context);
  }
  const timer = left !== undefined && { requeueAfter: left };
  const submitter = submitterFor(job, attempt);
  const submitted = observed(submitter);
  const seen = observed(cluster);
  // A cluster that was ready may lose workers while the job runs: Ray goes on with the others.
  if (!submitted && seen?.status?.state !== "ready") {
    const why = findCondition(seen?.status?.conditions, "Ready")?.message || "its pods are being created";
    return { ...told(status, [cluster], `RayCluster ${cluster.metadata.name} is not ready: ${why}`), ...timer };
  }
  const running: Status = { ...status, dashboardURL: dashboardOf(job, attempt), jobDeploymentStatus: "Running" };
  const children = [cluster, submitter];
  const outcome = outcomeOf(submitted);
  if (!outcome) {
    const jobStatus = submitted?.status?.active ? "RUNNING" : "PENDING";
    return { ...told({ ...running, jobStatus }, children, `job ${submitter.metadata.name} submits it`), ...timer };
  }
  const { failed = 0, succeeded = 0 } = counts(job);
  if (outcome.jobStatus === "SUCCEEDED") {
    return ended(job, "Complete", { ...running, ...outcome, succeeded: succeeded + 1 }, context);
  }
  // A job that a user stopped is not retried.
  if (outcome.jobStatus === "STOPPED") return ended(job, "Complete", { ...running, ...outcome }, context);
  const again = { ...running, ...outcome, failed: failed + 1 };
  if (failed < job.spec.backoffLimit) {
    return told(
      { ...again, jobDeploymentStatus: "Retrying" },
      [],
      `try ${failed + 1} of ${job.spec.backoffLimit + 1} has failed: ${outcome.message}`,
    );
  }
  return ended(job, "Failed", again, context);
}

function suspended(job: RayJob, context: ReconcileContext): Result {
  const left = objectsLeft(context);
  const phase = left ? "Suspending" : "Suspended";
  const message = left ? `${left} objects are still being deleted` : "the job is suspended";
  return told({ ...counts(job), jobDeploymentStatus: phase }, [], message);
}

function ended(job: RayJob, phase: "Complete" | "Failed", status: Status, context: ReconcileContext): Result {
  return finished(job, { ...status, jobDeploymentStatus: phase, endTime: timestamp(context.clock) }, context);
}

/** A finished job: its cluster goes when it is time. The submitting Job stays with its log, unless it was deleted: nothing is submitted again. */
function finished(job: RayJob, status: Status, { clock, observed }: ReconcileContext): Result {
  const { shutdownAfterJobFinishes, ttlSecondsAfterFinished } = job.spec;
  // Nothing else stops what takes too long.
  if (status.reason === "DeadlineExceeded") return told(status, [], status.message ?? "");
  // The cluster's name ends in the number of the try.
  const attempt = Number(status.rayClusterName?.split("-").at(-1) ?? 0);
  const submitter = submitterFor(job, attempt);
  const log = observed(submitter) ? [submitter] : [];
  const left = Date.parse(status.endTime ?? "") + 1000 * ttlSecondsAfterFinished - clock.now();
  const cluster = jobCluster(job, attempt);
  // A cluster that is gone is not made again for what is left of its time.
  const isGone = shutdownAfterJobFinishes && (!(left > 0) || !observed(cluster));
  if (isGone) return told(status, log, status.message ?? "");
  return {
    ...told(status, [cluster, ...log], status.message ?? ""),
    ...(shutdownAfterJobFinishes && { requeueAfter: left }),
  };
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

function told(status: Status, children: NonNullable<Result["children"]>, message: string): Result {
  return { status, children, conditions: conditionsOf(status, message) };
}

/** Ready while the job runs and when it has succeeded; what failed, or was stopped, does not become ready by waiting. */
function conditionsOf({ jobDeploymentStatus: phase, jobStatus, reason }: Status, message: string): Conditions {
  const isOver = phase === "Complete" || phase === "Failed";
  const isBad = isOver && jobStatus !== "SUCCEEDED";
  const isReady = phase === "Running" || (isOver && !isBad);
  const why = (isBad && (reason ?? "Stopped")) || phase!;
  return {
    Ready: isReady ? conditionTrue(why, message) : conditionFalse(why, message),
    Progressing: isOver || phase === "Suspended" ? conditionFalse(why, message) : conditionTrue(why, message),
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
  Running: "the job is submitted",
  Complete: "the job has ended",
  Suspending: "its cluster is being deleted",
  Suspended: "the job is suspended",
} as const;
