import { type Conditions, conditionFalse, conditionTrue } from "konverge";
import { formatLabelSelector } from "konverge/objects";
import type { WorkloadProblem } from "konverge/pods";
import type { Gang } from "./gang.ts";
import { gangSize } from "./gang-scheduler.ts";
import { CONTAINER, JOB_LABEL, ROLE_LABEL } from "./names.ts";
import { endTimeOf, type PodState } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";
import type { TrainingJobStatus, WorkerStatus } from "./training-job-status.ts";

/** What was reported before, without what the runtime keeps. */
export function reportedBefore({ status }: TrainingJob): TrainingJobStatus {
  const { conditions: _c, observedGeneration: _o, ...reported } = status ?? {};
  return reported;
}

/** The conditions as they were stated before: they stay, whatever becomes of the children. */
export function statedBefore({ status }: TrainingJob): Conditions {
  const stated = status?.conditions ?? [];
  return Object.fromEntries(
    stated.map(({ type, status: is, reason, message }) => [type, { status: is, reason, message }]),
  );
}

/** True once the job has come to its end: it never leaves it. */
export function isFinished({ status }: TrainingJob): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** The status of a job that goes on. */
export function activeStatus(job: TrainingJob, gang: Gang, steps: ReadonlyMap<number, number>): TrainingJobStatus {
  const before = reportedBefore(job);
  const phase = before.phase === "Running" || isComplete(job, gang) ? "Running" : "Pending";
  const startTime = before.startTime ?? (phase === "Running" ? startOf(gang.current) : undefined);
  return {
    ...before,
    ...counts(job, gang, before, steps),
    phase,
    ...(startTime && { startTime }),
    attempt: before.attempt ?? 0,
    restarts: before.restarts ?? 0,
    disruptions: before.disruptions ?? 0,
  };
}

/** All that must run together runs, or has run. */
function isComplete(job: TrainingJob, { current, finished }: Gang): boolean {
  const running = current.filter(({ state }) => state === "Running");
  const endedServers = current.filter(({ role, state }) => role === "ps" && state === "Succeeded");
  return running.length + finished.length + endedServers.length >= gangSize(job);
}

/** The moment at which the last of the workers began. */
export function startOf(pods: readonly PodState[]): string | undefined {
  const times = pods.flatMap(({ pod }) => {
    const state = pod.status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state;
    return state?.running?.startedAt ?? state?.terminated?.startedAt ?? pod.status?.startTime ?? [];
  });
  return times.sort().at(-1);
}

/** The moment at which the last of the workers ended. */
export function endOf({ current, finished }: Gang): string | undefined {
  const times = [...current.map(endTimeOf), ...finished.map(({ finishedAt }) => finishedAt)];
  return times
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);
}

type Counts = Pick<
  TrainingJobStatus,
  "workers" | "active" | "succeeded" | "failed" | "selector" | "workerStatuses" | "finishedWorkers"
>;

/** What the workers are doing, in numbers and one by one. */
export function counts(
  job: TrainingJob,
  { current, finished }: Pick<Gang, "current" | "finished">,
  before: TrainingJobStatus,
  steps: ReadonlyMap<number, number>,
): Counts {
  const workers = current.filter(({ role }) => role === "worker");
  const withoutPod = finished.filter(({ workerId }) => !workers.some(({ index }) => index === workerId));
  const count = (state: PodState["state"]) => workers.filter((one) => one.state === state).length;
  const knownOf = (id: number, name: string) =>
    before.workerStatuses?.find(({ workerId, podName }) => workerId === id && podName === name);
  const observed = workers.map((one) => {
    const known = before.attempt === one.attempt ? knownOf(one.index, one.pod.metadata.name) : undefined;
    return workerStatus(one, steps.get(one.index) ?? known?.step);
  });
  const remembered = withoutPod.map(({ workerId, podName }) => ({
    ...knownOf(workerId, podName),
    ...{ workerId, podName, status: "Succeeded" },
  }));
  return {
    workers: workers.length,
    active: count("Running"),
    succeeded: finished.length,
    failed: count("Failed"),
    selector: formatLabelSelector({ matchLabels: { [JOB_LABEL]: job.metadata.name, [ROLE_LABEL]: "worker" } }),
    workerStatuses: [...observed, ...remembered].sort((a, b) => a.workerId - b.workerId),
    ...(finished.length > 0 && { finishedWorkers: finished }),
  };
}

function workerStatus({ pod, index, state, cause, obstacle }: PodState, step: number | undefined): WorkerStatus {
  const message = cause?.message ?? obstacle?.reason;
  return {
    workerId: index,
    podName: pod.metadata.name,
    status: state,
    ...(pod.spec?.nodeName && { node: pod.spec.nodeName }),
    ...(cause?.exitCode !== undefined && { exitCode: cause.exitCode }),
    ...(message && { message }),
    ...(step !== undefined && { step }),
  };
}

/**
 * The conditions of a job that is not finished. An elastic job trains with fewer workers than it asks for, but it is ready only
 * with all of them: `kubectl wait` and deployment tools go by that.
 */
export function activeConditions(
  job: TrainingJob,
  status: TrainingJobStatus,
  problem: WorkloadProblem | undefined,
): Conditions {
  const { phase, active = 0, succeeded = 0, stragglers = [] } = status;
  const workersText = `${active + succeeded} of ${job.spec.workers} workers run`;
  const running = phase === "Running";
  const isReady = running && active + succeeded >= job.spec.workers;
  const wait = problem ?? { reason: "WaitingForWorkers", message: workersText };
  return {
    Ready: isReady ? conditionTrue("WorkersRunning", workersText) : conditionFalse(wait.reason, wait.message),
    Progressing: conditionTrue(running ? "Training" : wait.reason, running ? workersText : wait.message),
    Degraded: problem ? conditionTrue(problem.reason, problem.message) : conditionFalse("AsExpected"),
    Suspended: conditionFalse("NotSuspended"),
    Restarting: isRestarting(status)
      ? conditionTrue("WaitingForWorkers", workersText)
      : conditionFalse("NotRestarting"),
    Straggling:
      stragglers.length > 0
        ? conditionTrue("WorkersBehind", `far behind the others: ${stragglers.map((id) => `worker ${id}`).join(", ")}`)
        : conditionFalse("InStep"),
    Succeeded: conditionFalse("NotFinished"),
    Failed: conditionFalse("NotFinished"),
  };
}

/** A gang has ended before its time, and the next one does not run yet. A job that is resumed begins for another reason. */
function isRestarting({ phase, attempt = 0, startTime, failure }: TrainingJobStatus): boolean {
  return phase !== "Running" && attempt > 0 && (startTime !== undefined || failure?.attempt === attempt - 1);
}

/** The conditions of a job that is suspended; `left` is how many of its pods are still there. */
export function suspendedConditions(left: number): Conditions {
  const message = left > 0 ? `${left} pods are terminating` : "no workers run while spec.suspend is true";
  return {
    Ready: conditionFalse("Suspended", message),
    Progressing: conditionFalse("Suspended", message),
    Degraded: conditionFalse("AsExpected"),
    Suspended: conditionTrue("Suspended", message),
    Restarting: conditionFalse("NotRestarting"),
    Straggling: conditionFalse("InStep"),
    Succeeded: conditionFalse("NotFinished"),
    Failed: conditionFalse("NotFinished"),
  };
}

/** The conditions of a job that has come to its end. */
export function finishedConditions(end: {
  phase: "Succeeded" | "Failed";
  reason: string;
  message: string;
}): Conditions {
  const { phase, reason, message } = end;
  const isSuccess = phase === "Succeeded";
  return {
    Ready: isSuccess ? conditionTrue(reason, message) : conditionFalse(reason, message),
    Progressing: conditionFalse(reason, message),
    Degraded: isSuccess ? conditionFalse("AsExpected") : conditionTrue(reason, message),
    Suspended: conditionFalse("NotSuspended"),
    Restarting: conditionFalse("NotRestarting"),
    Straggling: conditionFalse("InStep"),
    Succeeded: isSuccess ? conditionTrue(reason, message) : conditionFalse(reason, message),
    Failed: isSuccess ? conditionFalse(reason, message) : conditionTrue(reason, message),
  };
}
