import { type ApiError, isAlreadyExists, isNotFound, type ObjectKey } from "konverge";
import type { Client } from "konverge/client";
import { type GangScheduler, POD_GROUPS, type PodGroup, schedulerPlugins, volcano } from "./gang-scheduler.ts";
import type { TrainingJob } from "./training-job.ts";

/** Which schedulers' PodGroups may be used: the operator's setting. */
export type GangChoice = "auto" | "none" | (string & {});

/**
 * The schedulers that a setting allows, in the order in which they are looked for; throws if there is none of that name.
 * `schedulerName` is the scheduler that has the coscheduling plugin.
 */
export function gangSchedulers(choice: GangChoice, schedulerName: string): readonly GangScheduler[] {
  const all = [schedulerPlugins(schedulerName), volcano];
  if (choice === "auto") return all;
  if (choice === "none") return [];
  const chosen = all.filter(({ name }) => name === choice);
  const known = ["auto", "none", ...all.map(({ name }) => name)].join(", ");
  if (chosen.length === 0) throw new TypeError(`there is no gang scheduler ${choice}: use one of ${known}`);
  return chosen;
}

/**
 * Sees to the job's PodGroup with the first scheduler whose PodGroups the cluster knows. Undefined if it knows none: pods
 * are then placed one by one.
 */
export async function ensurePodGroup(
  job: TrainingJob,
  schedulers: readonly GangScheduler[],
  client: Client,
): Promise<GangScheduler | undefined> {
  for (const scheduler of schedulers) {
    const known = await find(job, scheduler, client);
    if (known === "not served") continue;
    const wanted = scheduler.podGroup(job);
    if (known === undefined) {
      // Direct writes: a gang scheduler must admit the group before a pod is created, and may change it afterwards.
      await client.create(scheduler.kind, wanted).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    } else if (differs(wanted.spec, known.spec)) {
      await client.patch(scheduler.kind, keyOfGroup(job), { merge: { spec: wanted.spec } });
    }
    return scheduler;
  }
  return undefined;
}

/** Takes away the PodGroup that the status names. */
export async function removePodGroup(job: TrainingJob, client: Client): Promise<void> {
  const { podGroup } = job.status ?? {};
  const kind = podGroup && POD_GROUPS[podGroup.scheduler];
  if (!kind) return;
  await client.delete(kind, keyOfGroup(job)).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

function keyOfGroup({ metadata }: TrainingJob): ObjectKey {
  return `${metadata.namespace}/${metadata.name}`;
}

async function find(
  job: TrainingJob,
  { kind }: GangScheduler,
  client: Client,
): Promise<PodGroup | undefined | "not served"> {
  try {
    return await client.get(kind, keyOfGroup(job));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // Of a kind that it does not know, a server says NotFound of no object in particular.
    return (error as ApiError).details?.name === job.metadata.name ? undefined : "not served";
  }
}

function differs(wanted: PodGroup["spec"], known: PodGroup["spec"] | undefined): boolean {
  return Object.entries(wanted).some(([name, value]) => known?.[name] !== value);
}
