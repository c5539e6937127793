import { isNotFound, type KubeObject, keyOf, type ReconcileContext } from "konverge";
import { type JobResult, releaseGroup, servicesOf } from "./clear-away.ts";
import type { Job, JobObject } from "./job.ts";
import { holds } from "./job-conditions.ts";
import type { ReplicaStatus } from "./job-fields.ts";
import { isActive, type JobPod, type OwnPod } from "./job-pods.ts";
import { JobReport } from "./job-report.ts";
import { counted, type Tools } from "./job-tools.ts";
import { wasCutShort } from "./outcome-limits.ts";
import { publish } from "./publish.ts";

/** What becomes of a job that has ended: pods go as its policy says, and in the end the job itself. */
export async function afterTheEnd<T extends JobObject>(
  job: Job<T>,
  pods: readonly OwnPod[],
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<JobResult> {
  const { framework } = tools;
  const report = new JobReport(framework.kind.kind, job.status, "");
  if (holds(job.status.conditions, "Succeeded")) report.replicas(completed(job));
  const wholeStatus = publish(job, report, context.events, tools);
  const unwanted = pods.filter((one) => isUnwanted(one, job));
  await releaseGroup(job, context, tools);
  const expiry = expiryOf(job);
  if (expiry !== undefined && context.clock.now() > expiry) {
    await expire(job, context, tools);
    return { wholeStatus };
  }
  const kept = pods.filter((one) => !unwanted.includes(one));
  return {
    wholeStatus,
    // What stays is ignored: the names of pods that have ended are not needed.
    ...(isCleaned(job) && {
      children: [...servicesOf(job, kept, tools), ...kept.map(({ pod }) => pod), ...(framework.others?.for(job) ?? [])],
    }),
    ...(expiry !== undefined && { requeueAfter: Math.max(1, expiry - context.clock.now() + 1) }),
  };
}

const policyOf = (job: Job) => (wasCutShort(job) ? "All" : (job.runPolicy.cleanPodPolicy ?? "None"));
const isCleaned = (job: Job) => policyOf(job) !== "None";

/** A pod that waits would run some day: it goes like one that runs. */
function isUnwanted(one: JobPod, job: Job): boolean {
  const policy = policyOf(job);
  return policy === "All" || (policy === "Running" && isActive(one));
}

/** Of a job that is done, everything that still ran counts as done. */
function completed({ status }: Job): Record<string, ReplicaStatus> {
  return Object.fromEntries(
    Object.entries(status.replicaStatuses ?? {}).map(([type, { active = 0, ...rest }]) => {
      const succeeded = (rest.succeeded ?? 0) + active;
      return [type, { ...rest, ...(succeeded > 0 && { succeeded }) }];
    }),
  );
}

function expiryOf({ runPolicy, status }: Job): number | undefined {
  const { ttlSecondsAfterFinished } = runPolicy;
  const ended = status.completionTime ?? status.conditions?.at(-1)?.lastTransitionTime;
  if (ttlSecondsAfterFinished === undefined || !ended) return undefined;
  return Date.parse(ended) + ttlSecondsAfterFinished * 1000;
}

async function expire<T extends JobObject>(
  job: Job<T>,
  { client, events }: ReconcileContext,
  tools: Tools<T>,
): Promise<void> {
  const { uid } = job.object.metadata;
  const object: KubeObject = job.object;
  try {
    // Direct write: a job whose time to live is over deletes itself.
    await client.delete(tools.framework.kind, keyOf(object), { preconditions: { uid: uid! } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  events.normal("SuccessfulDeleteJob", `Deleted job: ${job.name}`);
  tools.metrics.job("deleted", counted(job, tools));
}
