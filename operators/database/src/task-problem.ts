import { type Context, isControlledBy, type Problem, problemOf, refusalTold } from "konverge";
import { type Job, Pod } from "konverge/kinds";
import { jobEnd } from "./task-pod.ts";

/** What keeps the pod of a Job from doing its task; undefined if nothing is known to. What it did and failed in is none. */
export async function taskProblem(
  job: Job | undefined,
  { cache, client, clock }: Context,
): Promise<Problem | undefined> {
  if (!job || jobEnd(job)) return undefined;
  const pods = cache.list(Pod, job.metadata.namespace).filter((pod) => isControlledBy(pod, job));
  const refusal = pods.length === 0 ? await refusalTold(client, job) : undefined;
  return problemOf({ pods: pods.filter(({ status }) => status?.phase !== "Failed"), refusal, now: clock.now() });
}
