import { type Conditions, formatLabelSelector, no, type Problem, yes } from "konverge";
import type { Gang } from "./gang.ts";
import { gangSize } from "./gang-scheduler.ts";
import { CONTAINER, JOB_LABEL, ROLE_LABEL } from "./names.ts";
import type { PodState } from "./pod-state.ts";
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
    ...counts(job, gang.current, before, steps),
    phase,
    ...(startTime && { startTime }),
    attempt: before.attempt ?? 0,
    restarts: before.restarts ?? 0,
    disruptions: before.disruptions ?? 0,
  };
}

/** All that must run together runs, or has run. */
function isComplete(job: TrainingJob, { current }: Gang): boolean {
  const started = current.filter(({ state }) => state === "Running" || state === "Succeeded");
  return started.length >= gangSize(job);
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
export function endOf(pods: readonly PodState[]): string | undefined {
  const times = pods.flatMap(({ pod }) => {
    const state = pod.status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state;
    return state?.terminated?.finishedAt ?? [];
  });
  return times.sort().at(-1);
}

/** What the pods are doing, in numbers and one by one. */
export function counts(
  job: TrainingJob,
  pods: readonly PodState[],
  before: TrainingJobStatus,
  steps: ReadonlyMap<number, number>,
): Pick<TrainingJobStatus, "workers" | "active" | "succeeded" | "failed" | "selector" | "workerStatuses"> {
  const workers = pods.filter(({ role }) => role === "worker").sort((a, b) => a.index - b.index);
  const count = (state: PodState["state"]) => workers.filter((one) => one.state === state).length;
  return {
    workers: workers.length,
    active: count("Running"),
    succeeded: count("Succeeded"),
    failed: count("Failed"),
    selector: formatLabelSelector({ matchLabels: { [JOB_LABEL]: job.metadata.name, [ROLE_LABEL]: "worker" } }),
    workerStatuses: workers.map((one) => {
      const known = before.workerStatuses?.find(({ workerId }) => workerId === one.index);
      const isSame = known?.podName === one.pod.metadata.name && before.attempt === one.attempt;
      return workerStatus(one, steps.get(one.index) ?? (isSame ? known?.step : undefined));
    }),
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

/** The conditions of a job that is not finished. */
export function activeConditions(
  job: TrainingJob,
  status: TrainingJobStatus,
  problem: Problem | undefined,
): Conditions {
  const { phase, active = 0, succeeded = 0, stragglers = [] } = status;
  const told = `${active + succeeded} of ${job.spec.workers} workers run`;
  const running = phase === "Running";
  const wait = problem ?? { reason: "WaitingForWorkers", message: told };
  return {
    Ready: running ? yes("WorkersRunning", told) : no(wait.reason, wait.message),
    Progressing: yes(running ? "Training" : wait.reason, running ? told : wait.message),
    Degraded: problem ? yes(problem.reason, problem.message) : no("AsExpected"),
    Suspended: no("NotSuspended"),
    Restarting: isRestarting(status) ? yes("WaitingForWorkers", told) : no("NotRestarting"),
    Straggling:
      stragglers.length > 0
        ? yes("WorkersBehind", `far behind the others: ${stragglers.map((id) => `worker ${id}`).join(", ")}`)
        : no("InStep"),
    Succeeded: no("NotFinished"),
    Failed: no("NotFinished"),
  };
}

/** A gang has ended before its time, and the next one does not run yet. A job that is resumed begins for another reason. */
function isRestarting({ phase, attempt = 0, startTime, failure }: TrainingJobStatus): boolean {
  return phase !== "Running" && attempt > 0 && (startTime !== undefined || failure?.attempt === attempt - 1);
}

/** The conditions of a job that is suspended; `left` is how many of its pods are still there. */
export function suspendedConditions(left: number): Conditions {
  const message = left > 0 ? `${left} pods are on their way out` : "no workers run while spec.suspend is set";
  return {
    Ready: no("Suspended", message),
    Progressing: no("Suspended", message),
    Degraded: no("AsExpected"),
    Suspended: yes("Suspended", message),
    Restarting: no("NotRestarting"),
    Straggling: no("InStep"),
    Succeeded: no("NotFinished"),
    Failed: no("NotFinished"),
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
    Ready: isSuccess ? yes(reason, message) : no(reason, message),
    Progressing: no(reason, message),
    Degraded: isSuccess ? no("AsExpected") : yes(reason, message),
    Suspended: no("NotSuspended"),
    Restarting: no("NotRestarting"),
    Straggling: no("InStep"),
    Succeeded: isSuccess ? yes(reason, message) : no(reason, message),
    Failed: isSuccess ? no(reason, message) : yes(reason, message),
  };
}
