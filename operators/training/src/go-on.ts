import { type Drafted, hasCondition, isAlreadyExists, keyOf, type ReconcileContext } from "konverge";
import { type ConfigMap, PersistentVolumeClaim, type Service } from "konverge/kinds";
import { deepEqual } from "konverge/objects";
import { reportProblem, type WorkloadProblem } from "konverge/pods";
import { checkpointClaimFor } from "./checkpoint-claim.ts";
import { deletePods } from "./delete-pods.ts";
import { creatable, type Gang, gangOf, waitEnds } from "./gang.ts";
import { productsOf, strandedWorkers } from "./gpu-placement.ts";
import { type Hyperparameters, hyperparametersConfigMap } from "./hyperparameters.ts";
import { podsOf } from "./job-pods.ts";
import { withReports } from "./job-progress.ts";
import { activeConditions, activeStatus } from "./job-status.ts";
import { queueMarks } from "./kueue.ts";
import { ensurePodGroup } from "./pod-group.ts";
import type { PodState } from "./pod-state.ts";
import { sharedClaims } from "./shared-claims.ts";
import type { Tools, TrainingResult } from "./tools.ts";
import type { TrainingJob } from "./training-job.ts";
import type { TrainingJobStatus } from "./training-job-status.ts";
import { activeDeadline, restartTime, startDeadline } from "./verdict.ts";
import { createPods, keptNames } from "./worker-creation.ts";
import type { Member } from "./worker-environment.ts";
import { type GangMarks, specHash } from "./worker-pod.ts";
import { serviceFor } from "./worker-service.ts";

/** A job that trains is looked at this often, for its progress. */
const WHILE_RUNNING = 30_000;
/** A server that refuses pods is asked again after this. */
const AFTER_REFUSAL = 30_000;
/** What pods need is about to be applied; then they can be made. */
const AT_ONCE = 1;

/**
 * Makes of a job what its status says it is: pods of earlier gangs go, those of this one are made when there is room, and
 * while they train their progress is read. Without hyperparameters, which come from a ConfigMap that is gone, there is
 * nothing to make.
 */
export async function goOn(
  job: TrainingJob,
  found: Gang,
  hyperparameters: Hyperparameters | undefined,
  context: ReconcileContext,
  tools: Tools,
): Promise<TrainingResult> {
  const now = context.clock.now();
  if (hasCondition(job, "Suspended")) context.events.normal("Resumed", "Workers are started again");
  await deletePods([...found.obsolete, ...strandedWorkers(job, found.current, context)], context.client);
  const children = hyperparameters && childrenOf(job, hyperparameters);
  const prepared = children === undefined || isPrepared(children, context);
  const members = prepared && now >= restartTime(job) ? creatable(job, found, now) : [];
  const made =
    hyperparameters && members.length > 0
      ? await make(job, members, { hyperparameters, leaving: found.leaving }, context, tools)
      : {};
  if (made.created) tellCreated(job, found, made.created, context);
  const hash = hyperparameters ? specHash(job, hyperparameters) : found.current[0]!.specHash;
  const gang = gangOf(job, podsOf(job, context), hash);
  const status = await statusOf(job, gang, { ...made.status }, context, tools);
  const problem = made.problem ?? gang.current.find(({ obstacle }) => obstacle)?.obstacle;
  reportProblem(job, problem, context.events);
  tellChanges(job, status, context);
  return {
    ...(children && { children }),
    status,
    conditions: activeConditions(job, status, problem),
    ...(prepared ? lookAgain(job, status, { refused: made.problem, gang, now }) : { requeueAfter: AT_ONCE }),
  };
}

function childrenOf(job: TrainingJob, hyperparameters: Hyperparameters) {
  const configMap = hyperparametersConfigMap(job, hyperparameters);
  return [serviceFor(job), ...(configMap ? [configMap] : [])];
}

/**
 * Pods mount the ConfigMap as it is when they start, and find each other through the Service: they are not made before both
 * are as they shall be.
 */
function isPrepared(children: readonly Drafted<Service | ConfigMap>[], { observed }: ReconcileContext): boolean {
  return children.every((child) => {
    const existing = observed(child);
    if (!existing) return false;
    if ("data" in child) return deepEqual((existing as ConfigMap).data, child.data);
    return deepEqual((existing as Service).spec?.selector, (child as Service).spec?.selector);
  });
}

interface Made {
  readonly created?: number;
  readonly problem?: WorkloadProblem;
  readonly status?: Pick<TrainingJobStatus, "podGroup">;
}

/** What pods need comes before them. */
async function make(
  job: TrainingJob,
  members: readonly Member[],
  { hyperparameters, leaving }: { hyperparameters: Hyperparameters; leaving: readonly PodState[] },
  context: ReconcileContext,
  { schedulers }: Tools,
): Promise<Made> {
  const { client } = context;
  await ensureClaim(job, context);
  const { affinity: together, problem } = sharedClaims(job, context);
  if (problem) return { problem };
  const size = job.spec.workers + (job.spec.parameterServers?.count ?? 0);
  const isGang = (job.spec.scheduling?.gang ?? true) && size > 1;
  const scheduler = isGang ? await ensurePodGroup(job, schedulers, client) : undefined;
  const gang = merged(scheduler?.marks(job), queueMarks(job));
  const products = productsOf(job, context);
  const taken = await keptNames(leaving, members, client);
  const creation = await createPods(job, members, { hyperparameters, gang, products, together, taken }, client);
  const podGroup = scheduler && { scheduler: scheduler.name, name: job.metadata.name };
  return { ...creation, ...(podGroup && { status: { podGroup } }) };
}

function merged(gang: GangMarks = {}, queue: GangMarks): GangMarks {
  return {
    ...gang,
    labels: { ...gang.labels, ...queue.labels },
    annotations: { ...gang.annotations, ...queue.annotations },
  };
}

async function ensureClaim(job: TrainingJob, { cache, client, events }: ReconcileContext): Promise<void> {
  const claim = checkpointClaimFor(job);
  if (!claim || cache.get(PersistentVolumeClaim, keyOf(claim))) return;
  try {
    // Direct write: the volume of checkpoints outlives its job.
    await client.create(PersistentVolumeClaim, claim);
    events.normal("CheckpointsCreated", `Created the claim ${claim.metadata.name}`);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** A whole gang is recognized by its size. */
function tellCreated({ spec, status }: TrainingJob, found: Gang, created: number, { events }: ReconcileContext): void {
  const count = status?.phase === "Running" ? created : spec.workers;
  if (found.missing.length <= created) events.normal("WorkersCreated", `Created ${count} worker pods`);
}

async function statusOf(
  job: TrainingJob,
  gang: Gang,
  made: Pick<TrainingJobStatus, "podGroup">,
  context: ReconcileContext,
  { logs }: Tools,
): Promise<TrainingJobStatus> {
  const status = activeStatus(job, gang, new Map());
  if (status.phase !== "Running") return { ...status, ...made };
  const reports = await logs.read(job, gang.current, context);
  const steps = new Map([...reports].map(([id, { step }]) => [id, step]));
  return { ...withReports(activeStatus(job, gang, steps), reports, context.clock.now()), ...made };
}

function tellChanges({ status: before }: TrainingJob, status: TrainingJobStatus, { events }: ReconcileContext): void {
  if (status.phase === "Running" && before?.phase !== "Running") {
    events.normal("TrainingStarted", `${(status.active ?? 0) + (status.succeeded ?? 0)} workers run`);
  }
  const late = status.stragglers ?? [];
  if (late.some((id) => !before?.stragglers?.includes(id))) {
    events.warning("Straggling", `Far behind the others: ${late.map((id) => `worker ${id}`).join(", ")}`);
  }
}

/** When time alone will change something. */
function lookAgain(
  job: TrainingJob,
  status: TrainingJobStatus,
  { refused, gang, now }: { refused: WorkloadProblem | undefined; gang: Gang; now: number },
): { requeueAfter?: number } {
  const stored = { ...job, status };
  const begins = restartTime(job);
  const waits = [
    activeDeadline(stored) - now,
    startDeadline(stored) - now,
    ...(status.phase === "Running" ? [WHILE_RUNNING] : []),
    ...(refused ? [AFTER_REFUSAL] : []),
    ...(begins > now ? [begins - now] : []),
    ...(waitEnds(gang, now) > now ? [waitEnds(gang, now) - now] : []),
  ];
  const after = Math.min(...waits);
  return Number.isFinite(after) ? { requeueAfter: Math.max(1, after) } : {};
}
