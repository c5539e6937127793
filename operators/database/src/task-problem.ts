import type { ReconcileContext } from "konverge";
import { type Job, Pod } from "konverge/kinds";
import { isControlledBy } from "konverge/objects";
import { failedCreateMessage, type WorkloadProblem, workloadProblem } from "konverge/pods";
import { jobEnd } from "./task-pod.ts";

/** What keeps the pod of a Job from doing its task; undefined if nothing is known to. What it did and failed in is none. */
export async function taskProblem(
  job: Job | undefined,
  { cache, client, clock }: ReconcileContext,
): Promise<WorkloadProblem | undefined> {
  if (!job || jobEnd(job)) return undefined;
  const pods = cache.list(Pod, job.metadata.namespace).filter((pod) => isControlledBy(pod, job));
  const creationError = pods.length === 0 ? await failedCreateMessage(client, job) : undefined;
  return workloadProblem({
    pods: pods.filter(({ status }) => status?.phase !== "Failed"),
    creationError,
    now: clock.now(),
  });
}
