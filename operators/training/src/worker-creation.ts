import { isAlreadyExists, isNotFound, keyOf } from "konverge";
import type { Client } from "konverge/client";
import { Pod } from "konverge/kinds";
import { isControlledBy } from "konverge/objects";
import { podCreationProblem, type WorkloadProblem } from "konverge/pods";
import { queueProblem } from "./kueue.ts";
import type { PodState } from "./pod-state.ts";
import type { TrainingJob } from "./training-job.ts";
import type { Member } from "./worker-environment.ts";
import { type PodContext, podFor } from "./worker-pod.ts";

/** What came of making pods. */
export interface Creation {
  readonly created: number;
  /** Why it went no further. */
  readonly problem?: WorkloadProblem;
}

/**
 * Creates pods in the order of their numbers, up to the first that the server rejects for a reason that users can fix.
 * Anything else it refuses is thrown, and tried again.
 */
export async function createPods(
  job: TrainingJob,
  members: readonly Member[],
  context: PodContext,
  client: Client,
): Promise<Creation> {
  let created = 0;
  for (const member of members) {
    const pod = podFor(job, member, context);
    try {
      const unserved = created === 0 ? await queueProblem(job, pod, client) : undefined;
      if (unserved) return { created, problem: unserved };
      // Direct writes: pods are created in the order of their numbers, up to the first that is refused.
      await client.create(Pod, pod);
      created++;
    } catch (error) {
      const problem = isAlreadyExists(error)
        ? await takenName(job, pod, client)
        : podCreationProblem(error, pod.metadata.name);
      if (!problem) throw error;
      return { created, problem };
    }
  }
  return { created };
}

/**
 * The names that pods which do not end still keep from these members, with the pods' uids. The server is asked: an operator that was cut
 * off has not heard that a pod ended, and would give its successor another name for nothing.
 */
export async function keptNames(
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

/** An own pod that lost its labels is replaced; pods of other owners are ignored. */
async function takenName(job: TrainingJob, { metadata }: Pod, client: Client): Promise<WorkloadProblem> {
  const { name } = metadata;
  const waiting = { reason: "NameTaken", message: `the pod ${name} must be deleted before the worker can be created` };
  try {
    const live = await client.get(Pod, keyOf({ metadata }));
    if (!isControlledBy(live, job)) {
      const message = `there is a pod ${name} that is not this job's: delete it, or give the job another name`;
      return { reason: "NameTaken", message };
    }
    const { uid, resourceVersion } = live.metadata;
    if (!live.metadata.deletionTimestamp) {
      await client.delete(Pod, keyOf({ metadata }), { preconditions: { uid, resourceVersion } });
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return waiting;
}
