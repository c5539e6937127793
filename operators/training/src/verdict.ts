import { hasSucceeded } from "./finished-workers.ts";
import type { Gang } from "./gang.ts";
import { podName } from "./names.ts";
import { deletedAt, firstFailure, isFromOutside, type PodState, TIME_TOLERANCE, timeOf } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";
import type { Failure } from "./training-job-status.ts";

/**
 * The next step of a job. A verdict is stored in the status before anything is done about it, so that an operator that
 * stops in between neither forgets it nor counts it twice.
 */
export type Verdict =
  /** `after`: when to judge again, in milliseconds. */
  | { readonly type: "go-on"; readonly after?: number }
  | { readonly type: "succeeded" }
  | { readonly type: "failed"; readonly reason: string; readonly message: string; readonly failure?: Failure }
  /** All workers restart, because one failed or was lost, or because the spec has changed. */
  | {
      readonly type: "restart";
      readonly why: "failure" | "disruption" | "change";
      readonly message: string;
      readonly failure?: Failure;
    }
  /** One worker of an elastic job is replaced. */
  | {
      readonly type: "replace";
      readonly why: "failure" | "disruption";
      readonly message: string;
      readonly failure: Failure;
    };

/** Judges a job by its pods. `now` is in milliseconds since 1970. */
export function judge(job: TrainingJob, gang: Gang, now: number): Verdict {
  if (isDone(job, gang)) return { type: "succeeded" };
  const overdue = deadlinePassed(job, now);
  if (overdue) return { type: "failed", ...overdue };
  const failed = firstFailure(gang.current);
  if (failed) {
    const after = unsureFor(failed, gang, now);
    if (after > 0) return { type: "go-on", after };
    return followsFromLoss(failed, gang)
      ? (lostWorker(job, gang) ?? afterFailure(job, failed))
      : afterFailure(job, failed);
  }
  if (gang.outdated.length > 0) return { type: "restart", why: "change", message: "the spec has changed" };
  return lostWorker(job, gang) ?? { type: "go-on" };
}

/** Nodes report the end of a container within this time, in milliseconds. */
const REPORTING = 5_000;

/** For how long another worker may still turn out to be the one that failed first. */
function unsureFor(failed: PodState, { current }: Gang, now: number): number {
  const others = current.some(({ state }) => state === "Running");
  if (isFromOutside(failed) || !others) return 0;
  return Math.min(REPORTING, timeOf(failed) + REPORTING - now);
}

/** Whether a worker failed when another was being deleted: then it lost its peer. */
function followsFromLoss(failed: PodState, { leaving }: Gang): boolean {
  const lost = leaving.filter((one) => one.attempt === failed.attempt && !hasSucceeded(one));
  const began = lost.map(deletedAt);
  return !isFromOutside(failed) && began.some((time) => time <= timeOf(failed) + TIME_TOLERANCE);
}

function isDone({ spec }: TrainingJob, { current, finished }: Gang): boolean {
  if (spec.successPolicy === "Chief") return finished.some(({ workerId }) => workerId === 0);
  const isRunning = current.some(({ role, state }) => role === "worker" && state === "Running");
  // Workers of an elastic job agree on its end: a worker that comes too late has no peers.
  if (spec.elastic) return finished.length > 0 && !isRunning;
  return finished.length === spec.workers;
}

function deadlinePassed(job: TrainingJob, now: number): { reason: string; message: string } | undefined {
  const { spec } = job;
  if (now >= activeDeadline(job)) {
    const message = `the training has taken longer than activeDeadlineSeconds (${spec.activeDeadlineSeconds} s)`;
    return { reason: "DeadlineExceeded", message };
  }
  if (now >= startDeadline(job)) {
    const message = `not all workers ran within startDeadlineSeconds (${spec.startDeadlineSeconds} s)`;
    return { reason: "StartDeadlineExceeded", message };
  }
  return undefined;
}

/** When the training must be over, in milliseconds since 1970. */
export function activeDeadline({ spec, status }: TrainingJob): number {
  if (spec.activeDeadlineSeconds === undefined || !status?.startTime) return Number.POSITIVE_INFINITY;
  return Date.parse(status.startTime) + 1000 * spec.activeDeadlineSeconds;
}

/** When all workers must run, in milliseconds since 1970: counted from the job's creation, its resumption or its restart. */
export function startDeadline({ metadata, spec, status }: TrainingJob): number {
  if (spec.startDeadlineSeconds === undefined || status?.phase === "Running") return Number.POSITIVE_INFINITY;
  const resumed = status?.conditions?.find((one) => one.type === "Suspended" && one.status === "False");
  const begins = [metadata.creationTimestamp, resumed?.lastTransitionTime, status?.failure?.time];
  const since = Math.max(0, ...begins.flatMap((time) => (time ? [Date.parse(time)] : [])));
  return since === 0 ? Number.POSITIVE_INFINITY : since + 1000 * spec.startDeadlineSeconds;
}

function afterFailure(job: TrainingJob, failed: PodState): Verdict {
  const { spec, status } = job;
  const failure = failureOf(failed);
  const message = failureText(failure);
  const cause = failed.cause!;
  if (spec.restartPolicy === "Never") return { type: "failed", reason: "WorkerFailed", message, failure };
  const type = spec.elastic ? "replace" : "restart";
  if (cause.isDisruption) return { type, why: "disruption", message, failure };
  if (spec.restartPolicy === "ExitCode" && !isRetried(cause.exitCode)) {
    const full = `${message}; exit codes below 128 are not retried (restartPolicy ExitCode)`;
    return { type: "failed", reason: "PermanentExitCode", message: full, failure };
  }
  if ((status?.restarts ?? 0) >= spec.backoffLimit) {
    const full = `${message}; ${spec.backoffLimit} restarts were used (backoffLimit)`;
    return { type: "failed", reason: "BackoffLimitExceeded", message: full, failure };
  }
  return { type, why: "failure", message, failure };
}

/** Codes from 128 mean that a signal ended the process: memory ran out, or it was killed. */
function isRetried(exitCode: number | undefined): boolean {
  return exitCode === undefined || exitCode >= 128;
}

function failureOf({ pod, role, index, attempt, cause }: PodState): Failure {
  const { exitCode, signal, reason, message, time } = cause!;
  return {
    podName: pod.metadata.name,
    podUid: pod.metadata.uid!,
    ...(role === "worker" && { workerId: index }),
    attempt,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    reason,
    ...(message && { message }),
    time,
  };
}

/** One sentence: which worker failed, and how. */
export function failureText({ podName: name, exitCode, signal, reason, message }: Failure): string {
  const how = exitCode === undefined ? "" : ` with exit code ${exitCode}${signal ? ` (signal ${signal})` : ""}`;
  return `${name} failed${how}: ${reason}${message ? `: ${message}` : ""}`;
}

/** A worker that ran, did not finish, and is no longer there. An elastic job gets a new one; in any other, it would have no peers. */
function lostWorker({ metadata, spec, status, ...job }: TrainingJob, gang: Gang): Verdict | undefined {
  if (spec.elastic || status?.phase !== "Running") return undefined;
  const [lost] = gang.missing;
  if (!lost) return undefined;
  const name = podName({ metadata, spec, ...job }, lost.role, lost.index);
  const message = `${name} is gone`;
  return spec.restartPolicy === "Never"
    ? { type: "failed", reason: "WorkerLost", message: `${message}, and restartPolicy is Never` }
    : { type: "restart", why: "disruption", message };
}

/** The wait before a restart, in milliseconds: 10 s, doubled with each, at most 5 minutes. Lost nodes are not waited for. */
export function restartDelay({ status }: TrainingJob): number {
  const restarts = status?.restarts ?? 0;
  return restarts === 0 ? 0 : Math.min(5 * 60_000, 10_000 * 2 ** (restarts - 1));
}

/** When the next gang, or the successor of an elastic job's worker, may begin, in milliseconds since 1970. */
export function restartTime(job: TrainingJob): number {
  const { attempt = 0, failure } = job.status ?? {};
  if (!failure?.exitCode || (!job.spec.elastic && failure.attempt !== attempt - 1)) return 0;
  return Date.parse(failure.time) + restartDelay(job);
}
