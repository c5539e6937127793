import type { ReconcileContext, ReconcileResult } from "konverge";
import { Service } from "konverge/kinds";
import type { Framework } from "./framework.ts";
import type { Job, JobObject } from "./job.ts";
import { membersOfJob, serviceFor } from "./job-children.ts";
import { deletePods } from "./job-pod-writes.ts";
import type { JobPod } from "./job-pods.ts";
import type { Tools } from "./job-tools.ts";
import { removePodGroup } from "./pod-group.ts";

/** What a look at a job leads to. The status is written by the look itself: see `publish`. */
export type JobResult<T extends JobObject> = Pick<ReconcileResult<T>, "children" | "requeueAfter">;

/** Takes pods away, and with the last reason to place them together their PodGroup. */
export async function clearAway<T extends JobObject>(
  job: Job<T>,
  pods: readonly JobPod[],
  context: ReconcileContext,
  tools: Tools<T>,
): Promise<void> {
  await deletePods(pods, context, tools);
  if (!tools.gang || !(await removePodGroup(job, tools.gang, context.client))) return;
  tools.metrics.group("deleted");
  context.events.normal("JobTerminated", "Job has been terminated. Deleting PodGroup");
  context.events.normal("SuccessfulDeletePodGroup", `Deleted PodGroup: ${job.name}`);
}

/** The Services of these pods. */
export function servicesOf<T extends JobObject>(job: Job<T>, pods: readonly JobPod[], { framework }: Tools<T>) {
  return membersOfJob(job)
    .filter(({ replica, index }) => pods.some((one) => one.type === replica.type.toLowerCase() && one.index === index))
    .map((member) => serviceFor(job, member, framework as unknown as Framework));
}

/** Tells which Services come and go with the children that are now wanted. */
export function tellServices(
  children: JobResult<JobObject>["children"],
  { observed, events }: ReconcileContext,
  tell: {
    created(): void;
  },
): void {
  if (!children) return;
  const wanted = new Set(
    children.flatMap((child) => ("metadata" in child && child.kind === "Service" ? [child.metadata.name] : [])),
  );
  const known = new Set(observed.all(Service).map(({ metadata }) => metadata.name));
  for (const name of wanted) {
    if (known.has(name!)) continue;
    tell.created();
    events.normal("SuccessfulCreateService", `Created service: ${name}`);
  }
  for (const name of known) {
    if (!wanted.has(name)) events.normal("SuccessfulDeleteService", `Deleted service: ${name}`);
  }
}
