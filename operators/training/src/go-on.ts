import { hasCondition, type ReconcileContext } from "konverge";
import { reportProblem, type WorkloadProblem } from "konverge/pods";
import { creatable, type Gang, gangOf, waitEnds } from "./gang.ts";
import { strandedWorkers } from "./gpu-placement.ts";
import type { Hyperparameters } from "./hyperparameters.ts";
import { keptPods, podsAfter, podsOf, supportOf } from "./job-pods.ts";
import { withReports } from "./job-progress.ts";
import { activeConditions, activeStatus } from "./job-status.ts";
import { type NewWorkers, newWorkers, refusalIn } from "./new-workers.ts";
import type { PodState } from "./pod-state.ts";
import type { Tools, TrainingResult } from "./tools.ts";
import type { TrainingJob } from "./training-job.ts";
import type { TrainingJobStatus } from "./training-job-status.ts";
import { activeDeadline, restartTime, startDeadline } from "./verdict.ts";
import { specHash } from "./worker-pod.ts";

/** A job that trains is looked at this often, for its progress. */
const WHILE_RUNNING = 30_000;
/** A server that refuses pods is asked again after this. */
const AFTER_REFUSAL = 30_000;

export interface Known {
  /** Undefined: the ConfigMap that they come from does not exist. */
  readonly hyperparameters: Hyperparameters | undefined;
  /** In how many milliseconds more is known of a failure. */
  readonly decidedIn: number | undefined;
}

/**
 * Carries out what the status says: deletes the pods of earlier gangs, creates those of the current one as soon as that is
 * possible, and reads their progress. Without hyperparameters, because their ConfigMap was deleted, no pods are created.
 */
export async function goOn(
  job: TrainingJob,
  found: Gang,
  { hyperparameters, decidedIn }: Known,
  context: ReconcileContext,
  tools: Tools,
): Promise<TrainingResult> {
  const now = context.clock.now();
  if (hasCondition(job, "Suspended")) context.events.normal("Resumed", "Workers are started again");
  const pods = podsOf(context);
  const unwanted = [...found.obsolete, ...strandedWorkers(job, found.current, context)].map(uidOf);
  const members = hyperparameters && now >= restartTime(job) ? creatable(job, found, now) : [];
  const support = supportOf(job, hyperparameters, context);
  const added: NewWorkers =
    hyperparameters && members.length > 0
      ? await newWorkers(job, members, { hyperparameters, leaving: found.leaving, support }, context, tools)
      : { pods: [] };
  const reports = await reportsOf(job, found, context, tools);
  const hash = hyperparameters ? specHash(job, hyperparameters) : found.current[0]!.specHash;
  return {
    children: [...support, ...keptPods(pods.filter((one) => !unwanted.includes(uidOf(one)))), ...added.pods],
    report(outcome) {
      const refused = added.problem ?? refusalIn(outcome);
      const gang = gangOf(job, podsAfter(pods, outcome), hash);
      const status = { ...statusOf(job, gang, reports, now), ...added.status };
      const problem = refused ?? gang.current.find(({ obstacle }) => obstacle)?.obstacle;
      reportCreated(job, found, outcome.created.filter(({ kind }) => kind === "Pod").length, context);
      reportProblem(job, problem, context.events);
      reportChanges(job, status, context);
      return {
        status,
        conditions: activeConditions(job, status, problem),
        ...nextReconcile(job, status, { refused, gang, now, decidedIn }),
      };
    },
  };
}

const uidOf = ({ pod }: PodState) => pod.metadata.uid;

/** A whole gang is recognized by its size. */
function reportCreated(
  { spec, status }: TrainingJob,
  found: Gang,
  created: number,
  { events }: ReconcileContext,
): void {
  const count = status?.phase === "Running" ? created : spec.workers;
  if (created > 0 && found.missing.length <= created) events.normal("WorkersCreated", `Created ${count} worker pods`);
}

/** What running workers have logged about their progress. */
async function reportsOf(job: TrainingJob, gang: Gang, context: ReconcileContext, { logs }: Tools) {
  const { phase } = activeStatus(job, gang, new Map());
  return phase === "Running" ? await logs.read(job, gang.current, context) : undefined;
}

function statusOf(
  job: TrainingJob,
  gang: Gang,
  reports: Awaited<ReturnType<typeof reportsOf>>,
  now: number,
): TrainingJobStatus {
  if (!reports) return activeStatus(job, gang, new Map());
  const steps = new Map([...reports].map(([id, { step }]) => [id, step]));
  return withReports(activeStatus(job, gang, steps), reports, now);
}

function reportChanges({ status: before }: TrainingJob, status: TrainingJobStatus, { events }: ReconcileContext): void {
  if (status.phase === "Running" && before?.phase !== "Running") {
    events.normal("TrainingStarted", `${(status.active ?? 0) + (status.succeeded ?? 0)} workers run`);
  }
  const late = status.stragglers ?? [];
  if (late.some((id) => !before?.stragglers?.includes(id))) {
    events.warning("Straggling", `Far behind the others: ${late.map((id) => `worker ${id}`).join(", ")}`);
  }
}

/** When time alone will change something. */
function nextReconcile(
  job: TrainingJob,
  status: TrainingJobStatus,
  {
    refused,
    gang,
    now,
    decidedIn,
  }: { refused: WorkloadProblem | undefined; gang: Gang; now: number } & Pick<Known, "decidedIn">,
): { requeueAfter?: number } {
  const stored = { ...job, status };
  const begins = restartTime(job);
  const waits = [
    activeDeadline(stored) - now,
    startDeadline(stored) - now,
    ...(status.phase === "Running" ? [WHILE_RUNNING] : []),
    ...(refused ? [AFTER_REFUSAL] : []),
    ...(decidedIn === undefined ? [] : [decidedIn]),
    ...(begins > now ? [begins - now] : []),
    ...(waitEnds(gang, now) > now ? [waitEnds(gang, now) - now] : []),
  ];
  const after = Math.min(...waits);
  return Number.isFinite(after) ? { requeueAfter: Math.max(1, after) } : {};
}
