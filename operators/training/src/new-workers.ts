import {
  type Child,
  type ChildrenOutcome,
  isAlreadyExists,
  isNotFound,
  keyOf,
  type PlannedChild,
  plannedChild,
  type ReconcileContext,
} from "konverge";
import type { Client } from "konverge/client";
import { PersistentVolumeClaim, Pod } from "konverge/kinds";
import { podCreationProblem, type WorkloadProblem } from "konverge/pods";
import { checkpointClaimFor } from "./checkpoint-claim.ts";
import { productsOf } from "./gpu-placement.ts";
import type { Hyperparameters } from "./hyperparameters.ts";
import { queueMarks, queueProblem } from "./kueue.ts";
import { ensurePodGroup } from "./pod-group.ts";
import type { PodState } from "./pod-state.ts";
import { sharedClaims } from "./shared-claims.ts";
import type { Tools } from "./tools.ts";
import type { TrainingJob } from "./training-job.ts";
import type { TrainingJobStatus } from "./training-job-status.ts";
import type { Member } from "./worker-environment.ts";
import { type GangMarks, podFor } from "./worker-pod.ts";

/** The pods to create, or why there are none. */
export interface NewWorkers {
  readonly pods: readonly PlannedChild[];
  readonly problem?: WorkloadProblem | undefined;
  readonly status?: Pick<TrainingJobStatus, "podGroup">;
}

export interface Surroundings {
  readonly hyperparameters: Hyperparameters;
  /** Pods that are being deleted. */
  readonly leaving: readonly PodState[];
  /** What pods use, and are created after. */
  readonly support: readonly Child[];
}

/** The pods of these members, once everything that pods need is there. */
export async function newWorkers(
  job: TrainingJob,
  members: readonly Member[],
  { hyperparameters, leaving, support }: Surroundings,
  context: ReconcileContext,
  { schedulers }: Tools,
): Promise<NewWorkers> {
  const { client, observed } = context;
  await ensureClaim(job, context);
  const { affinity: together, problem } = sharedClaims(job, context);
  if (problem) return { pods: [], problem };
  const size = job.spec.workers + (job.spec.parameterServers?.count ?? 0);
  const isGang = (job.spec.scheduling?.gang ?? true) && size > 1;
  const scheduler = isGang ? await ensurePodGroup(job, schedulers, client) : undefined;
  const status = scheduler && { podGroup: { scheduler: scheduler.name, name: job.metadata.name } };
  const gang = merged(scheduler?.marks(job), queueMarks(job));
  const products = productsOf(job, context);
  const taken = await keptNames(leaving, members, client);
  const pods = members
    .map((member) => podFor(job, member, { hyperparameters, gang, products, together, taken }))
    // A pod that lost its labels is not among the children, so it is deleted, and recreated afterwards.
    .filter((pod) => !observed(pod));
  const unserved = pods[0] && (await queueProblem(job, pods[0], client));
  return {
    pods: unserved ? [] : pods.map((pod) => plannedChild(pod, { after: support, onRefused: "report" })),
    problem: unserved,
    ...(status && { status }),
  };
}

/** Why a pod could not be created, if a user can do something about it. */
export function refusalIn({ refused: [first] }: ChildrenOutcome): WorkloadProblem | undefined {
  if (!first) return undefined;
  const { child, reason, message, error } = first;
  const { name } = child.metadata;
  if (reason === "ChildReplaced" || reason === "ChildTerminating") {
    return { reason: "NameTaken", message: `the pod ${name} must be deleted before the worker can be created` };
  }
  if (reason === "ChildExists" || reason === "ChildOfAnother") {
    return {
      reason: "NameTaken",
      message: `there is a pod ${name} that is not this job's: delete it, or give the job another name`,
    };
  }
  return podCreationProblem(error, name!) ?? { reason: "PodInvalid", message };
}

/**
 * The names that pods which do not end still keep from these members, with the pods' uids. The server is asked: an operator that was cut
 * off has not heard that a pod ended, and would give its successor another name for nothing.
 */
async function keptNames(
  leaving: readonly PodState[],
  members: readonly Member[],
  client: Client,
): Promise<ReadonlyMap<string, string>> {
  const kept = new Map<string, string>();
  for (const { pod, role, index } of leaving) {
    if (!members.some((one) => one.role === role && one.index === index)) continue;
    const { name, uid } = pod.metadata;
    try {
      const live = await client.get(Pod, keyOf(pod));
      if (live.metadata.uid === uid) kept.set(name, uid!);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return kept;
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
