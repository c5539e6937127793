import { timestamp } from "@konverge/core";
import type { Job, JobCondition, JobStatus, Pod } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { isActive, isReady, isTerminating } from "../workloads/pod-state.ts";
import { type FailureHistory, failureHistoryAfter, waitAfter } from "./backoff.ts";
import { failuresBefore, IndexSet, indexOf } from "./indexes.ts";
import { createJobPods, deleteJobPods, podsToRemove, releasePods } from "./job-pods.ts";
import { defaultedSpec, isTracked, jobCondition } from "./job-state.ts";
import { hasFailed, judgeFailure, replacesOnlyFailed, successByPolicy } from "./policies.ts";

/** The state of a Job as computed in this reconcile, before it is written to the status. */
export interface Standing {
  job: Job;
  pods: Pod[];
  active: Pod[];
  activeCount: number;
  ready: number;
  terminating: number;
  succeeded: number;
  failed: number;
  succeededIndexes: IndexSet;
  failedIndexes: IndexSet | undefined;
  /** For each index that is to be retried: the failed pod that is kept until then. */
  waiting: Map<number, Pod>;
  failureHistory: FailureHistory;
  /** SuccessCriteriaMet, FailureTarget or Failed: the Job is about to end with it. */
  verdict: JobCondition | undefined;
  conditions: JobCondition[];
  startTime: string | undefined;
  error: unknown;
  /** Candidates for `requeueAfter`, in milliseconds. */
  after: number[];
}

/** Counts the active pods and those that have finished since the last reconcile, and decides whether the Job ends. */
export function assess(
  context: ReconcileContext,
  job: Job,
  pods: Pod[],
  failureHistory: FailureHistory | undefined,
): Standing {
  const { clock } = context;
  const { isIndexed, completions = 0, suspend, podFailurePolicy } = defaultedSpec(job);
  const uncounted = job.status?.uncountedTerminatedPods ?? {};
  const isCountable = (pod: Pod) =>
    isTracked(pod) && (!isIndexed || (indexOf(pod) !== undefined && indexOf(pod)! < completions));
  const succeededNow = pods.filter(
    (pod) => isCountable(pod) && pod.status?.phase === "Succeeded" && !uncounted.succeeded?.includes(pod.metadata.uid!),
  );
  const failedNow = pods.filter(
    (pod) => isCountable(pod) && hasFailed(pod, job) && !uncounted.failed?.includes(pod.metadata.uid!),
  );
  const counted = failedNow.filter((pod) => judgeFailure(podFailurePolicy, pod).counts);
  const active = pods.filter(isActive);
  const before = IndexSet.parse(job.status?.completedIndexes, completions);
  const succeededIndexes = isIndexed ? before.with(succeededNow.map((pod) => indexOf(pod)!)) : before;
  const standing: Standing = {
    job,
    pods,
    active,
    activeCount: active.length,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    succeeded: isIndexed
      ? succeededIndexes.size
      : (job.status?.succeeded ?? 0) + succeededNow.length + (uncounted.succeeded?.length ?? 0),
    failed: (job.status?.failed ?? 0) + counted.length + (uncounted.failed?.length ?? 0),
    succeededIndexes,
    failedIndexes: failedIndexesOf(job, pods),
    waiting: new Map(),
    failureHistory: failureHistoryAfter(failureHistory, succeededNow, failedNow, clock),
    verdict: undefined,
    conditions: [...(job.status?.conditions ?? [])],
    startTime: job.status?.startTime ?? (suspend ? undefined : timestamp(clock)),
    error: undefined,
    after: [],
  };
  standing.waiting = waitingPods(standing);
  standing.verdict = verdictOf(context, standing);
  return standing;
}

function failedIndexesOf(job: Job, pods: readonly Pod[]): IndexSet | undefined {
  const { backoffLimitPerIndex, completions = 0, podFailurePolicy } = defaultedSpec(job);
  if (backoffLimitPerIndex === undefined) return undefined;
  const failed = pods.filter((pod) => {
    const index = indexOf(pod);
    if (!isTracked(pod) || index === undefined || index >= completions || !hasFailed(pod, job)) return false;
    const { action, counts } = judgeFailure(podFailurePolicy, pod);
    return action === "FailIndex" || (counts && failuresBefore(pod) >= backoffLimitPerIndex);
  });
  return IndexSet.parse(job.status?.failedIndexes, completions).with(failed.map((pod) => indexOf(pod)!));
}

function waitingPods({ job, pods, active, succeededIndexes, failedIndexes }: Standing): Map<number, Pod> {
  const waiting = new Map<number, Pod>();
  if (!failedIndexes) return waiting;
  const busy = new Set(active.map(indexOf));
  for (const pod of pods) {
    const index = indexOf(pod);
    if (index === undefined || !isTracked(pod) || !hasFailed(pod, job)) continue;
    if (busy.has(index) || succeededIndexes.has(index) || failedIndexes.has(index)) continue;
    const known = waiting.get(index);
    if (!known || failuresBefore(known) < failuresBefore(pod)) waiting.set(index, pod);
  }
  return waiting;
}

function verdictOf(context: ReconcileContext, standing: Standing): JobCondition | undefined {
  const { job, pods, failed, succeededIndexes, failedIndexes } = standing;
  const {
    backoffLimit,
    activeDeadlineSeconds,
    podFailurePolicy,
    maxFailedIndexes,
    completions = 0,
  } = defaultedSpec(job);
  const now = timestamp(context.clock);
  const condition = (type: string, reason: string, message: string): JobCondition => ({
    type,
    status: "True",
    lastProbeTime: now,
    lastTransitionTime: now,
    reason,
    message,
  });
  const met = jobCondition(job, "SuccessCriteriaMet");
  if (met) return met;
  const target = jobCondition(job, "FailureTarget");
  if (target) return { ...target, type: "Failed", lastProbeTime: now, lastTransitionTime: now };
  for (const pod of podFailurePolicy ? pods : []) {
    const message = hasFailed(pod, job) ? judgeFailure(podFailurePolicy, pod).failsJob : undefined;
    if (message) return condition("FailureTarget", "PodFailurePolicy", message);
  }
  if (failed > backoffLimit || restartsExceed(job, pods, backoffLimit)) {
    return condition("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  if (activeDeadlineSeconds !== undefined && !job.spec?.suspend && standing.startTime) {
    const left = Date.parse(standing.startTime) + activeDeadlineSeconds * 1000 - context.clock.now();
    if (left <= 0) {
      return condition("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline");
    }
    standing.after.push(left);
  }
  if (failedIndexes && maxFailedIndexes !== undefined && failedIndexes.size > maxFailedIndexes) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return condition("FailureTarget", "MaxFailedIndexesExceeded", message);
  }
  if (failedIndexes && failedIndexes.size > 0 && failedIndexes.size + succeededIndexes.size >= completions) {
    return condition("FailureTarget", "FailedIndexes", "Job has failed indexes");
  }
  const success = defaultedSpec(job).isIndexed ? successByPolicy(job, succeededIndexes) : undefined;
  return success === undefined ? undefined : condition("SuccessCriteriaMet", "SuccessPolicy", success);
}

/** With `restartPolicy: OnFailure`, container restarts count as failures. */
function restartsExceed(job: Job, pods: readonly Pod[], limit: number): boolean {
  if (job.spec?.template.spec?.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== "Running" && status?.phase !== "Pending") continue;
    for (const { restartCount } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += restartCount;
    }
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Deletes what still runs of a Job that is decided; without that, the decision waits. */
export async function stopPods(context: ReconcileContext, standing: Standing): Promise<void> {
  const { deleted, error } = await deleteJobPods(context, standing.active);
  if (deleted.length !== standing.active.length) standing.verdict = undefined;
  noteDeleted(standing, deleted);
  standing.error = error;
}

function noteDeleted(standing: Standing, deleted: readonly Pod[]): void {
  standing.activeCount -= deleted.length;
  standing.terminating += deleted.length;
  standing.ready -= deleted.filter(isReady).length;
}

/** Brings the number of active pods to `parallelism`: deletes or creates pods, never both in one reconcile. */
export async function managePods(context: ReconcileContext, standing: Standing): Promise<void> {
  const { job, active, succeeded, terminating } = standing;
  const { parallelism, completions, suspend, isIndexed, backoffLimitPerIndex } = defaultedSpec(job);
  const remaining =
    completions === undefined
      ? succeeded > 0
        ? active.length
        : parallelism
      : Math.max(0, Math.min(completions - succeeded, parallelism));
  const wanted = suspend ? 0 : remaining;
  const surplus = podsToRemove(context, job, active, Math.max(0, active.length - wanted)).slice(0, 500);
  if (surplus.length > 0) {
    // A pod that its Job no longer needs has not failed: without the finalizer, its end is not counted.
    await releasePods(context, surplus);
    const { deleted, error } = await deleteJobPods(context, surplus);
    noteDeleted(standing, deleted);
    standing.error = error;
    return;
  }
  const missing = wanted - active.length - (replacesOnlyFailed(job) ? terminating : 0);
  if (missing <= 0) return;
  const count = Math.min(missing, 500);
  let indexes = isIndexed ? pendingIndexes(standing, count) : undefined;
  if (backoffLimitPerIndex === undefined) {
    const wait = waitAfter(standing.failureHistory, context.clock);
    if (wait > 0) return void standing.after.push(wait);
  } else {
    const waits = new Map(indexes!.map((index) => [index, waitOf(context, standing, index)]));
    indexes = indexes!.filter((index) => waits.get(index) === 0);
    if (indexes.length === 0) return void standing.after.push(Math.min(...waits.values()));
  }
  const { done, error } = await createJobPods(context, job, {
    count,
    ...(indexes && { indexes }),
    replaced: standing.waiting,
  });
  standing.activeCount += done;
  standing.error = error;
}

function waitOf({ clock }: ReconcileContext, { waiting }: Standing, index: number): number {
  const pod = waiting.get(index);
  return pod
    ? waitAfter(
        { ...failureHistoryAfter(undefined, [], [pod], clock), failuresSinceSuccess: failuresBefore(pod) + 1 },
        clock,
      )
    : 0;
}

function pendingIndexes({ job, pods, active, succeededIndexes, failedIndexes }: Standing, count: number): number[] {
  const { completions = 0 } = defaultedSpec(job);
  const busy = new Set(
    (replacesOnlyFailed(job) ? pods.filter((pod) => isActive(pod) || isTerminating(pod)) : active).map(indexOf),
  );
  const pending: number[] = [];
  for (let i = 0; i < completions && pending.length < count; i++) {
    if (!busy.has(i) && !succeededIndexes.has(i) && !failedIndexes?.has(i)) pending.push(i);
  }
  return pending;
}

/** The status as far as it follows from the standing alone: without what has to be counted. */
export function plainStatus({ job, activeCount, ready, terminating, conditions, startTime }: Standing): JobStatus {
  return {
    ...job.status,
    active: activeCount,
    ready,
    terminating,
    conditions,
    ...(startTime && { startTime }),
  };
}
