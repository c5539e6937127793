import { type ApiError, isAlreadyExists, isNotFound, type ObjectKey } from "konverge";
import type { Client } from "konverge/client";
import { deepEqual } from "konverge/objects";
import type { WorkloadProblem } from "konverge/pods";
import type { Framework } from "./framework.ts";
import type { GangScheduler, PodGroup } from "./gang-scheduler.ts";
import type { Job } from "./job.ts";

/** How the group of a job's pods stands: pods can be created, or have to wait, or a user has to act. */
export type GroupState = "admitted" | "created" | "waiting" | WorkloadProblem;

/** Sees to the PodGroup of a job. */
export async function ensurePodGroup(
  job: Job,
  framework: Pick<Framework, "kind">,
  scheduler: GangScheduler,
  client: Client,
): Promise<GroupState> {
  const known = await find(job, scheduler, client);
  if (known === "not served") {
    const message = `the cluster has no ${scheduler.kind.group} PodGroups: install the scheduler, or set gangSchedulerName to none`;
    return { reason: "NoGangScheduler", message };
  }
  const wanted = scheduler.podGroup(job, framework);
  if (known === undefined) {
    // Direct writes: a gang scheduler must admit the group before a pod is created, and may change it afterwards.
    const made = await client.create(scheduler.kind, wanted).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    return scheduler.isAdmitted(made ?? wanted) ? "created" : "waiting";
  }
  // Volcano may move a group to another queue.
  const { queue: _, ...fixed } = wanted.spec as Record<string, unknown>;
  if (Object.entries(fixed).some(([name, value]) => !deepEqual(known.spec[name], value))) {
    await client.patch(scheduler.kind, keyOfGroup(job), { merge: { spec: fixed } });
  }
  return scheduler.isAdmitted(known) ? "admitted" : "waiting";
}

/** Takes the job's PodGroup away; true if there was one. */
export async function removePodGroup(job: Job, { kind }: GangScheduler, client: Client): Promise<boolean> {
  try {
    await client.delete(kind, keyOfGroup(job));
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return false;
  }
}

const keyOfGroup = ({ namespace, name }: Job): ObjectKey => `${namespace}/${name}`;

async function find(job: Job, { kind }: GangScheduler, client: Client): Promise<PodGroup | undefined | "not served"> {
  try {
    return await client.get(kind, keyOfGroup(job));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // Of a kind that it does not know, a server says NotFound of no object in particular.
    return (error as ApiError).details?.name === job.name ? undefined : "not served";
  }
}
