import { type KubeObject, timestamp } from "@konverge/core";
import { Job, type JobCondition, type JobStatus, Pod } from "@konverge/kinds";
import { allPredicates, type CacheChange, type ReconcileContext, valueChanged } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { claimChildren, watchChildren } from "../workloads/claim.ts";
import { selectorOf } from "../workloads/selector.ts";
import { SelectorIndex } from "../workloads/selector-index.ts";
import { withCondition, writeStatus } from "../workloads/status.ts";
import type { FailureHistory } from "./backoff.ts";
import { indexOf } from "./indexes.ts";
import { releasePods } from "./job-pods.ts";
import { defaultedSpec, finishedCondition, isManagedElsewhere, isTracked, jobLabels } from "./job-state.ts";
import { hasFailed, judgeFailure } from "./policies.ts";
import { assess, managePods, plainStatus, type Standing, stopPods } from "./sync.ts";

const NAME = "job-controller";

/** Runs pods until enough of them have succeeded. */
function jobController() {
  const selector = (job: Job) =>
    job.spec?.selector
      ? selectorOf(job.spec.selector)
      : { matchLabels: { "batch.kubernetes.io/controller-uid": jobLabels(job)["controller-uid"]! } };
  const selectors = new SelectorIndex<Job>(selector);
  /** By uid. Not persisted: after a restart the backoff of a Job begins at its shortest. */
  const failureHistories = new Map<string, FailureHistory>();
  return builtInController(Job, {
    name: NAME,
    when: (change) => selectors.follow(change) && !isOwnReport(change),
    watches: [
      watchChildren(
        Pod,
        Job,
        selectors,
        allPredicates(valueChanged(whatMatters), (change) => !isOwnReport(change)),
      ),
    ],
    async reconcile(job, context) {
      const uid = job.metadata.uid!;
      if (isManagedElsewhere(job)) return undefined;
      if (finishedCondition(job)) {
        failureHistories.delete(uid);
        return undefined;
      }
      const pods = await claimChildren(context, { kind: Pod, ownerKind: Job, owner: job, selector: selector(job) });
      const standing = assess(context, job, pods, failureHistories.get(uid));
      if (standing.verdict) await stopPods(context, standing);
      else {
        await managePods(context, standing);
        decide(context, standing);
      }
      await track(context, standing);
      failureHistories.set(uid, standing.failureHistory);
      if (standing.error) throw standing.error;
      return standing.after.length > 0 ? { requeueAfter: Math.max(1, Math.min(...standing.after)) } : undefined;
    },
  });
}

/** The parts of a pod that its Job depends on: everything but where it is scheduled. */
function whatMatters({ metadata, status }: Pod): unknown {
  const { labels, annotations, finalizers, ownerReferences, deletionTimestamp } = metadata;
  const { phase, reason, conditions = [], containerStatuses, initContainerStatuses } = status ?? {};
  const reported = conditions.filter(({ type }) => type !== "PodScheduled");
  const own = { labels, annotations, finalizers, ownerReferences, deletionTimestamp };
  return [own, phase, reason, reported, containerStatuses, initContainerStatuses];
}

/** Whether a change is this controller's own write, which is already accounted for. Deletions are always processed. */
function isOwnReport({ type, writer, object }: CacheChange<KubeObject>): boolean {
  return writer === NAME && type !== "deleted" && object.metadata.deletionTimestamp === undefined;
}

/** Whether enough pods have succeeded; if not, whether the Job rests. */
function decide({ clock, events }: ReconcileContext, standing: Standing): void {
  const { job, succeeded, activeCount } = standing;
  const { completions, suspend } = defaultedSpec(job);
  const isEnough = completions === undefined ? succeeded > 0 : succeeded >= completions;
  const now = timestamp(clock);
  if (isEnough && activeCount === 0) {
    standing.verdict = {
      type: "SuccessCriteriaMet",
      status: "True",
      lastProbeTime: now,
      lastTransitionTime: now,
      reason: "CompletionsReached",
      message: "Reached expected number of succeeded pods",
    };
    return;
  }
  const known = standing.conditions.find(({ type }) => type === "Suspended");
  if (suspend ? known?.status === "True" : known?.status !== "True") return;
  const [status, reason, message] = suspend
    ? ["True", "JobSuspended", "Job suspended"]
    : ["False", "JobResumed", "Job resumed"];
  const next: JobCondition = {
    type: "Suspended",
    status: status!,
    reason: reason!,
    message: message!,
    lastProbeTime: now,
  };
  standing.conditions = withCondition(standing.conditions, next, now);
  events.normal(suspend ? "Suspended" : "Resumed", message!);
  standing.startTime = suspend ? undefined : now;
}

/**
 * Counts pods that have ended, each once: their uids are noted in the status, then their finalizers are removed, then the
 * counters grow. A crash in between loses nothing and counts nothing twice.
 */
async function track(context: ReconcileContext, standing: Standing): Promise<void> {
  const { job, pods, succeededIndexes, failedIndexes } = standing;
  const { isIndexed } = defaultedSpec(job);
  const held = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid!));
  const known = job.status?.uncountedTerminatedPods ?? {};
  const uncounted = { succeeded: [...(known.succeeded ?? [])], failed: [...(known.failed ?? [])] };
  const release: Pod[] = [];
  for (const pod of pods) {
    if (!isTracked(pod) || !isSettled(standing, pod)) continue;
    release.push(pod);
    const uid = pod.metadata.uid!;
    if (pod.status?.phase === "Succeeded" && !uncounted.failed.includes(uid)) {
      if (!isIndexed && !uncounted.succeeded.includes(uid)) uncounted.succeeded.push(uid);
    } else if (!uncounted.failed.includes(uid) && countsAsFailed(standing, pod)) uncounted.failed.push(uid);
  }
  const { startTime, ...plain } = plainStatus(standing);
  let status: JobStatus = {
    ...plain,
    ...(standing.startTime && { startTime }),
    ...(isIndexed && { succeeded: succeededIndexes.size, completedIndexes: succeededIndexes.toString() }),
    ...(failedIndexes && { failedIndexes: failedIndexes.toString() }),
  };
  status = withCounted(status, uncounted, (uid) => !held.has(uid));
  const final = withInterim(standing, status, timestamp(context.clock));
  status = { ...status, conditions: final.conditions };
  let current = job;
  if (release.length > 0) {
    current = await writeStatus(context, Job, job, status);
    const released = await releasePods(context, release);
    status = withCounted(status, status.uncountedTerminatedPods ?? {}, (uid) => released.has(uid) || !held.has(uid));
  }
  const left = status.uncountedTerminatedPods ?? {};
  const isDone = final.condition && !left.succeeded?.length && !left.failed?.length && standing.terminating === 0;
  if (isDone) {
    const { condition } = final;
    const conditions = withCondition(status.conditions, condition!, timestamp(context.clock));
    const isComplete = condition!.type === "Complete";
    status = { ...status, conditions, ...(isComplete && { completionTime: timestamp(context.clock) }) };
  }
  await writeStatus(context, Job, current, status);
  if (isDone) announce(context, job, status, final.condition!);
}

/** Moves uids of which it is known that their pods are no longer held from the notes to the counters. */
function withCounted(
  status: JobStatus,
  uncounted: { succeeded?: readonly string[]; failed?: readonly string[] },
  isFree: (uid: string) => boolean,
): JobStatus {
  const split = (uids: readonly string[] = []) => ({
    free: uids.filter(isFree).length,
    held: uids.filter((uid) => !isFree(uid)),
  });
  const [succeeded, failed] = [split(uncounted.succeeded), split(uncounted.failed)];
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.free,
    failed: (status.failed ?? 0) + failed.free,
    uncountedTerminatedPods: {
      ...(succeeded.held.length > 0 && { succeeded: succeeded.held }),
      ...(failed.held.length > 0 && { failed: failed.held }),
    },
  };
}

/** Whether a pod is counted and released: it has finished or no longer matters, and its index does not wait for a retry. */
function isSettled({ job, verdict, waiting }: Standing, pod: Pod): boolean {
  if (verdict) return true;
  const index = indexOf(pod);
  if (index !== undefined && waiting.get(index)?.metadata.uid === pod.metadata.uid) return false;
  return pod.status?.phase === "Succeeded" || hasFailed(pod, job);
}

function countsAsFailed({ job, verdict }: Standing, pod: Pod): boolean {
  const isOver = verdict !== undefined && verdict.type !== "SuccessCriteriaMet";
  if (!hasFailed(pod, job) && !isOver) return false;
  const { isIndexed, completions = 0, podFailurePolicy } = defaultedSpec(job);
  const index = indexOf(pod);
  if (isIndexed && (index === undefined || index >= completions)) return false;
  return judgeFailure(podFailurePolicy, pod).counts;
}

/** The conditions with that under which the Job is about to end, and the one with which it will have ended. */
function withInterim({ verdict }: Standing, { conditions = [] }: JobStatus, now: string) {
  if (!verdict) return { conditions, condition: undefined };
  if (verdict.type === "Failed") return { conditions, condition: verdict };
  const type = verdict.type === "FailureTarget" ? "Failed" : "Complete";
  const condition: JobCondition = { ...verdict, type, lastProbeTime: now, lastTransitionTime: now };
  const isKnown = conditions.some((one) => one.type === verdict.type && one.status === "True");
  return { conditions: isKnown ? conditions : [...conditions, verdict], condition };
}

function announce(
  { events }: ReconcileContext,
  { spec }: Job,
  { succeeded = 0 }: JobStatus,
  { type, reason, message }: JobCondition,
): void {
  if (type === "Failed") {
    events.warning(reason!, message!);
    return;
  }
  if (spec?.completions !== undefined && succeeded > spec.completions) {
    events.warning("TooManySucceededPods", "Too many succeeded pods running after completion count reached");
  }
  events.normal("Completed", "Job completed");
}

/** Runs Jobs. */
export const jobs = controllersComponent(NAME, [Job], () => [jobController()]);
