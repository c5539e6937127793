import type { Condition, ReconcileContext } from "konverge";
import type { Job as BatchJob } from "konverge/kinds";
import { removeCondition, setCondition } from "konverge/objects";
import type { WorkloadProblem } from "konverge/pods";
import { timestamp } from "konverge/time";
import { endOf } from "./batch-jobs.ts";
import { STALLED } from "./job-conditions.ts";
import type { TrainJob, TrainJobStatus } from "./train-job.ts";
import type { Step } from "./train-plan.ts";
import { STEP_NAME } from "./train-pods.ts";
import type { RuntimeSpec } from "./training-runtime.ts";

export type StepStatus = NonNullable<TrainJobStatus["jobsStatus"]>[number];
type TrainCondition = "Suspended" | "Complete" | "Failed";

/** How the Jobs of a step are doing, as a JobSet counts them. */
export function stepStatus({ name, jobs: planned }: Step, all: readonly BatchJob[]): StepStatus {
  const jobs = all.filter(({ metadata }) => metadata.labels?.[STEP_NAME] === name);
  const count = (is: (job: BatchJob) => boolean) => jobs.filter(is).slice(0, planned.length).length;
  const isOpen = (job: BatchJob) => !endOf(job);
  const isReady = ({ spec, status }: BatchJob) => {
    const { parallelism = 1, completions = parallelism } = spec ?? {};
    return (status?.succeeded ?? 0) + (status?.ready ?? 0) >= Math.min(parallelism, completions);
  };
  return {
    name,
    ready: count((job) => isOpen(job) && isReady(job)),
    succeeded: count((job) => endOf(job)?.type === "Complete"),
    failed: count((job) => endOf(job)?.type === "Failed"),
    active: count((job) => isOpen(job) && (job.status?.active ?? 0) > 0),
    suspended: 0,
  };
}

/** Whether the steps that a step waits for are as far as it wants them. */
export function isFree({ dependsOn }: Step, steps: readonly Step[], statuses: readonly StepStatus[]): boolean {
  return dependsOn.every(({ name, status }) => {
    const size = steps.find((one) => one.name === name)?.jobs.length;
    const { ready, succeeded, failed } = statuses.find((one) => one.name === name)!;
    return size === (status === "Complete" ? succeeded : ready + succeeded + failed);
  });
}

/** How a training has ended, in the words of JobSets; undefined while it has not. */
export function endOfTraining(
  { template }: RuntimeSpec,
  steps: readonly Step[],
  jobs: readonly BatchJob[],
): { type: "Complete" | "Failed"; reason: string; message: string } | undefined {
  const failed = jobs.filter((job) => endOf(job)?.type === "Failed");
  if (failed.length > 0) {
    const [first] = failed.sort((a, b) => timeOf(a) - timeOf(b));
    const message = `jobset failed due to one or more job failures (first failed job: ${first!.metadata.name})`;
    return { type: "Failed", reason: "FailedJobs", message };
  }
  const { operator = "All", targetReplicatedJobs: targets = [] } = template.spec.successPolicy ?? {};
  const wanted = steps.filter(({ name }) => targets.length === 0 || targets.includes(name));
  const size = operator === "Any" ? 1 : wanted.reduce((sum, step) => sum + step.jobs.length, 0);
  const done = wanted.reduce((sum, step) => sum + stepStatus(step, jobs).succeeded, 0);
  if (done === 0 || done < size) return undefined;
  return { type: "Complete", reason: "AllJobsCompleted", message: "jobset completed successfully" };
}

const timeOf = (job: BatchJob) => Date.parse(endOf(job)?.lastTransitionTime ?? "");

/** The new status of a TrainJob during a reconcile. */
export class TrainReport {
  readonly #job: TrainJob;
  readonly #time: string;
  #conditions: readonly Condition[];
  #jobsStatus: readonly StepStatus[] | undefined;

  constructor(job: TrainJob, { clock }: ReconcileContext) {
    this.#job = job;
    this.#time = timestamp(clock);
    this.#conditions = removeCondition(job.status?.conditions, STALLED);
    this.#jobsStatus = job.status?.jobsStatus;
  }

  find(type: TrainCondition): Condition | undefined {
    return this.#conditions.find((one) => one.type === type && one.status === "True");
  }

  get isFinished(): boolean {
    return this.find("Complete") !== undefined || this.find("Failed") !== undefined;
  }

  set(type: TrainCondition, reason: string, message: string, status: "True" | "False" = "True"): void {
    const at = { generation: undefined, time: this.#time };
    this.#conditions = setCondition(this.#conditions, type, { status, reason, message }, at);
  }

  jobs(statuses: readonly StepStatus[]): void {
    this.#jobsStatus = statuses;
  }

  /** Jobs that a training leaves behind do nothing any more. */
  stopped(): void {
    this.#jobsStatus = this.#jobsStatus?.map((one) => ({ ...one, ready: 0, active: 0, suspended: 0 }));
  }

  /** The job cannot continue without help. The last condition is the job's state, so this one comes first. */
  stalled(problem: WorkloadProblem | undefined): void {
    if (!problem || this.isFinished) return;
    const known = this.#job.status?.conditions?.filter(({ type }) => type === STALLED);
    const at = { generation: undefined, time: this.#time };
    const stalled = setCondition(known, STALLED, { status: "True", ...problem }, at);
    this.#conditions = [...stalled, ...this.#conditions];
  }

  /** The status to store. Reports in events what is new in it. */
  publish({ events }: Pick<ReconcileContext, "events">): TrainJobStatus {
    const status: TrainJobStatus = {
      ...(this.#conditions.length > 0 && { conditions: [...this.#conditions] }),
      ...(this.#jobsStatus && { jobsStatus: [...this.#jobsStatus] }),
    };
    for (const { type, reason, message } of this.#conditions) {
      const before = this.#job.status?.conditions?.find((one) => one.type === type);
      if (before?.reason === reason && before.message === message) continue;
      if (type === STALLED || type === "Failed") events.warning(reason, message);
      else events.normal(reason, message);
    }
    return status;
  }
}
