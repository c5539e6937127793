import type { ReconcileContext, ReconcileResult } from "konverge";
import type { Job, JobObject } from "./job.ts";
import { membersOfJob, serviceFor } from "./job-children.ts";
import type { JobPod } from "./job-pods.ts";
import type { Tools } from "./job-tools.ts";
import { removePodGroup } from "./pod-group.ts";

/** The result of reconciling a job of any framework. */
export type JobResult = ReconcileResult<JobObject>;

/** Deletes the PodGroup of a job whose pods go: the last reason to place them together. */
export async function releaseGroup<T extends JobObject>(
  job: Job<T>,
  { client, events }: ReconcileContext,
  tools: Tools<T>,
): Promise<void> {
  if (!tools.gang || !(await removePodGroup(job, tools.gang, client))) return;
  tools.metrics.group("deleted");
  events.normal("JobTerminated", "Job has been terminated. Deleting PodGroup");
  events.normal("SuccessfulDeletePodGroup", `Deleted PodGroup: ${job.name}`);
}

/** The Services of these pods. */
export function servicesOf<T extends JobObject>(job: Job<T>, pods: readonly JobPod[], { framework }: Tools<T>) {
  return membersOfJob(job)
    .filter(({ replica, index }) => pods.some((one) => one.type === replica.type.toLowerCase() && one.index === index))
    .map((member) => serviceFor(job, member, framework));
}
