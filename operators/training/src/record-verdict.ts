import type { ReconcileContext } from "konverge";
import { timestamp } from "konverge/time";
import type { Gang } from "./gang.ts";
import { withReports } from "./job-progress.ts";
import { activeConditions, counts, endOf, finishedConditions, reportedBefore, startOf } from "./job-status.ts";
import type { Tools, TrainingResult } from "./tools.ts";
import type { TrainingJob } from "./training-job.ts";
import type { TrainingJobStatus } from "./training-job-status.ts";
import type { Verdict } from "./verdict.ts";

/** The verdict is stored; what follows from it can begin. */
const AT_ONCE = 1;

type Recorded<V extends Verdict["type"]> = Extract<Verdict, { type: V }>;

/** Stores what has happened to a job, and does nothing else: whatever follows from it is done when it is stored. */
export async function record(
  job: TrainingJob,
  verdict: Exclude<Verdict, { type: "go-on" }>,
  gang: Gang,
  context: ReconcileContext,
  tools: Tools,
): Promise<TrainingResult> {
  const reports = await tools.logs.readNow(gang.current, context);
  const before = withReports(reportedBefore(job), reports, context.clock.now());
  const steps = new Map([...reports].map(([id, { step }]) => [id, step]));
  const known = { ...before, ...counts(job, gang, before, steps) };
  const { stragglers: _, ...status } = known;
  if (verdict.type === "succeeded" || verdict.type === "failed") return end(job, verdict, status, gang, context, tools);
  return again(job, verdict, status, context, tools);
}

function end(
  job: TrainingJob,
  verdict: Recorded<"succeeded"> | Recorded<"failed">,
  known: TrainingJobStatus,
  gang: Gang,
  { events, clock }: ReconcileContext,
  { metrics }: Tools,
): TrainingResult {
  const startTime = known.startTime ?? startOf(gang.current);
  const failure = verdict.type === "failed" ? verdict.failure : undefined;
  const endTime = verdict.type === "succeeded" ? endOf(gang) : failure?.time;
  const phase = verdict.type === "succeeded" ? ("Succeeded" as const) : ("Failed" as const);
  const status: TrainingJobStatus = {
    ...known,
    phase,
    ...(startTime && { startTime }),
    completionTime: endTime ?? timestamp(clock),
    ...(failure && { failure }),
  };
  const statement =
    verdict.type === "succeeded"
      ? { reason: "TrainingSucceeded", message: `${known.succeeded} of ${job.spec.workers} workers have succeeded` }
      : verdict;
  if (verdict.type === "succeeded") events.normal(statement.reason, statement.message);
  else events.warning(statement.reason, statement.message);
  metrics.ended(job, status, statement.reason);
  return { status, conditions: finishedConditions({ phase, ...statement }), requeueAfter: AT_ONCE };
}

function again(
  job: TrainingJob,
  verdict: Recorded<"restart"> | Recorded<"replace">,
  known: TrainingJobStatus,
  { events }: ReconcileContext,
  { metrics }: Tools,
): TrainingResult {
  const { type, why, message, failure } = verdict;
  const { finishedWorkers, ...rest } = known;
  const count = (name: "restarts" | "disruptions", is: string) => (known[name] ?? 0) + (why === is ? 1 : 0);
  const status: TrainingJobStatus = {
    ...rest,
    // All workers of the next gang have to finish again.
    ...(type === "restart"
      ? { phase: "Pending" as const, attempt: (known.attempt ?? 0) + 1 }
      : finishedWorkers && { finishedWorkers }),
    restarts: count("restarts", "failure"),
    disruptions: count("disruptions", "disruption"),
    ...(failure && { failure }),
  };
  const what = type === "restart" ? "all workers restart" : "it is replaced";
  if (why === "change") events.normal("SpecChanged", `All workers restart, since ${message}`);
  else if (why === "disruption") events.warning("Restarting", `${message}: ${what}`);
  else events.warning("Restarting", `${message}: ${what} (restart ${status.restarts} of ${job.spec.backoffLimit})`);
  metrics.restarted(why);
  return { status, conditions: activeConditions(job, status, undefined), requeueAfter: AT_ONCE };
}
