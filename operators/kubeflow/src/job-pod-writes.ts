import { isAlreadyExists, isNotFound, keyOf, type ReconcileContext } from "konverge";
import { Pod } from "konverge/kinds";
import { isControlledBy } from "konverge/objects";
import { podCreationProblem, type WorkloadProblem } from "konverge/pods";
import type { Member } from "./framework.ts";
import type { Job, JobObject } from "./job.ts";
import { podFor } from "./job-children.ts";
import { isLeaving, type JobPod } from "./job-pods.ts";
import type { JobReport } from "./job-report.ts";
import type { Tools } from "./job-tools.ts";

/** Creates pods, up to the first that the server rejects for a reason that users can fix. */
export async function createPods<T extends JobObject>(
  job: Job<T>,
  members: readonly Member[],
  report: JobReport,
  { client, events }: ReconcileContext,
  { framework, gang, metrics }: Tools<T>,
): Promise<WorkloadProblem | undefined> {
  for (const member of members) {
    const pod = podFor(job, member, framework, gang);
    try {
      await client.create(Pod, pod);
    } catch (error) {
      const problem = isAlreadyExists(error)
        ? await takenName(job, pod, client)
        : podCreationProblem(error, `pod ${pod.metadata.name}`);
      if (!problem) throw error;
      if (!report.knows(problem)) events.warning("FailedCreatePod", `Error creating: ${(error as Error).message}`);
      return problem;
    }
    metrics.podCreated();
    tellOverridden(job, member, report, gang?.schedulerName);
    events.normal("SuccessfulCreatePod", `Created pod: ${pod.metadata.name}`);
  }
  return undefined;
}

function tellOverridden(job: Job, { replica }: Member, report: JobReport, scheduler: string | undefined): void {
  if (replica.template.spec?.restartPolicy) {
    const why = "Restart policy in pod template will be overwritten by restart policy in replica spec";
    report.tell("Warning", "SetPodTemplateRestartPolicy", why);
  }
  const isOther = (name: string | undefined) => name !== undefined && name !== "" && name !== scheduler;
  if (scheduler && job.replicas.some(({ template }) => isOther(template.spec?.schedulerName))) {
    const why = "Another scheduler is specified when gang-scheduling is enabled and it will not be overwritten";
    report.tell("Warning", "SetPodTemplateSchedulerName", why);
  }
}

/** Deletes pods that are not on their way out yet: these very ones, not others that have their names by now. */
export async function deletePods<T extends JobObject>(
  pods: readonly JobPod[],
  { client, events }: ReconcileContext,
  { metrics }: Tools<T>,
): Promise<void> {
  for (const { pod } of pods.filter((one) => !isLeaving(one))) {
    try {
      await client.delete(Pod, keyOf(pod), { preconditions: { uid: pod.metadata.uid! } });
      metrics.podDeleted();
      events.normal("SuccessfulDeletePod", `Deleted pod: ${pod.metadata.name}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** An own pod that lost its labels is replaced; pods of other owners are ignored. */
async function takenName(job: Job, { metadata }: Pod, client: ReconcileContext["client"]): Promise<WorkloadProblem> {
  const { name } = metadata;
  try {
    const live = await client.get(Pod, keyOf({ metadata }));
    if (!isControlledBy(live, job.object)) {
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
  return { reason: "NameTaken", message: `the pod ${name} must be deleted before it can be recreated` };
}
