/** Runs a plan as far as it gets: phases, steps and tasks, one after the other or side by side. */
import { deepEqual } from "@konverge/core";
import type { Plan, PlanStatus, Task } from "./kudo-kinds.ts";
import { isTerminal, withStatus } from "./plan-status.ts";

/** Where a task stands. */
export interface TaskPlace {
  readonly plan: string;
  readonly phase: string;
  readonly step: string;
  readonly task: string;
}

/** A task that can not be done, however often it is tried. */
export class FatalTaskError extends Error {
  override readonly name = "FatalTaskError";
  /** The reason of the event. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A task that failed, and is tried again. */
export class TransientTaskError extends Error {
  override readonly name = "TransientTaskError";
}

/** Does what is left of a task. Returns whether it is done. */
export type RunTask = (task: Task, place: TaskPlace) => Promise<boolean>;

/** What came of a plan. */
export interface PlanRun {
  readonly status: PlanStatus;
  readonly failure?: FatalTaskError;
}

/** Where and what runs. */
export interface RunningPlan {
  readonly name: string;
  readonly plan: Plan;
  readonly tasks: readonly Task[];
  readonly status: PlanStatus;
  /** `namespace/name` of the instance. */
  readonly instance: string;
  readonly now: string;
}

/** As KUDO: a serial plan or phase stops at what is not complete, and a fatal error ends the plan. */
export async function runPlan(running: RunningPlan, runTask: RunTask): Promise<PlanRun> {
  const { plan, status: before, now } = running;
  if (isTerminal(before.status)) return { status: before };
  const phases = [...(before.phases ?? [])];
  let failure: FatalTaskError | undefined;
  for (const index of (plan.phases ?? []).keys()) {
    const known = phases[index]!;
    if (known.status === "COMPLETE") continue;
    const run = await runPhase(running, index, runTask);
    phases[index] = run.status;
    failure = run.failure;
    if (failure) break;
    if (run.status.status !== "COMPLETE" && plan.strategy === "serial") break;
  }
  const isComplete = phases.every(({ status }) => status === "COMPLETE");
  const status = withStatus({ ...before, phases }, failure ? "FATAL_ERROR" : isComplete ? "COMPLETE" : "IN_PROGRESS");
  const isSame = deepEqual({ ...status, lastUpdatedTimestamp: "" }, { ...before, lastUpdatedTimestamp: "" });
  return { status: isSame ? before : { ...status, lastUpdatedTimestamp: now }, ...(failure && { failure }) };
}

async function runPhase(running: RunningPlan, index: number, runTask: RunTask) {
  const phase = running.plan.phases![index]!;
  const known = running.status.phases![index]!;
  const steps = [...(known.steps ?? [])];
  for (const [at, step] of (phase.steps ?? []).entries()) {
    const before = steps[at]!;
    if (before.status === "COMPLETE") continue;
    const place = { plan: running.name, phase: phase.name ?? "", step: step.name ?? "" };
    const run = await runStep(running, step.tasks ?? [], place, runTask);
    if (run.failure) {
      steps[at] = withStatus(before, "FATAL_ERROR", run.failure.message);
      return { status: withStatus({ ...known, steps }, "FATAL_ERROR"), failure: run.failure };
    }
    steps[at] = withStatus(before, run.isDone ? "COMPLETE" : run.error ? "ERROR" : "IN_PROGRESS", run.error);
    if (!run.isDone && phase.strategy === "serial") break;
  }
  const isComplete = steps.every(({ status }) => status === "COMPLETE");
  return { status: withStatus({ ...known, steps }, isComplete ? "COMPLETE" : "IN_PROGRESS") };
}

/** All tasks of a step run in each round, also after one that is not done. */
async function runStep(
  { tasks, instance }: RunningPlan,
  names: readonly string[],
  place: Omit<TaskPlace, "task">,
  runTask: RunTask,
): Promise<{ isDone: boolean; error?: string; failure?: FatalTaskError }> {
  let isDone = true;
  let error: string | undefined;
  for (const name of names) {
    const where = `${place.plan}.${place.phase}.${place.step}.${name}`;
    const task = tasks.find((one) => one.name === name);
    if (!task) {
      const message = `${instance} fatal error: missing task ${where}: add it to tasks of the OperatorVersion`;
      return { isDone: false, failure: new FatalTaskError("UnknownTaskName", message) };
    }
    try {
      if (!(await runTask(task, { ...place, task: name }))) isDone = false;
    } catch (problem) {
      if (problem instanceof FatalTaskError) {
        const message = `Error during execution: fatal error: ${instance} failed in ${where}: ${problem.message}`;
        return { isDone: false, failure: new FatalTaskError(problem.reason, message) };
      }
      if (!(problem instanceof TransientTaskError)) throw problem;
      isDone = false;
      error = `A transient error when executing task ${where}. Will retry. ${problem.message}`;
    }
  }
  return { isDone, ...(error !== undefined && { error }) };
}
