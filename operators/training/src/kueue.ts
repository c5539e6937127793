import { type FieldError, isAlreadyExists } from "konverge";
import type { Client } from "konverge/client";
import { Pod } from "konverge/kinds";
import { podCreationProblem, type WorkloadProblem } from "konverge/pods";
import { fieldForbidden } from "konverge/webhooks";
import { gangSize } from "./gang-scheduler.ts";
import type { TrainingJob } from "./training-job.ts";
import type { GangMarks } from "./worker-pod.ts";

/** Jobs with this label get their quota from Kueue. */
export const KUEUE_QUEUE = "kueue.x-k8s.io/queue-name";
/** What Kueue holds pods by until there is quota for all of their group. */
const GATE = "kueue.x-k8s.io/admission";

const queueOf = ({ metadata }: TrainingJob) => metadata.labels?.[KUEUE_QUEUE];

/** What is wrong with a job of a queue. */
export function queueErrors({ metadata, spec }: TrainingJob): FieldError[] {
  if (!metadata.labels?.[KUEUE_QUEUE] || !spec.elastic) return [];
  return [fieldForbidden("spec.elastic", `the size of a job with the label ${KUEUE_QUEUE} is fixed`)];
}

/**
 * Kueue does not know TrainingJobs, but groups of pods: each gang is one. A worker that has failed is not awaited again in
 * the same group, since the operator makes a new gang.
 */
export function queueMarks(job: TrainingJob): GangMarks {
  const queue = queueOf(job);
  if (!queue) return {};
  const { name } = job.metadata;
  return {
    labels: { [KUEUE_QUEUE]: queue, "kueue.x-k8s.io/pod-group-name": `${name}-${job.status?.attempt ?? 0}` },
    annotations: {
      "kueue.x-k8s.io/pod-group-total-count": String(gangSize(job)),
      "kueue.x-k8s.io/retriable-in-group": "false",
    },
  };
}

/** Why no queue takes the pods: without Kueue, or without its integration of pods, they would run past their quota. */
export async function queueProblem(
  job: TrainingJob,
  pod: Parameters<Client["create"]>[1],
  client: Client,
): Promise<WorkloadProblem | undefined> {
  if (!queueOf(job)) return undefined;
  try {
    // Direct write: a dry run, which asks whether a queue takes the pod.
    const { spec } = (await client.create(Pod, pod as Pod, { dryRun: true })) as Pod;
    if (spec?.schedulingGates?.some(({ name }) => name === GATE)) return undefined;
  } catch (error) {
    // The creation itself says why it is refused.
    if (isAlreadyExists(error) || podCreationProblem(error, pod.metadata.name!)) return undefined;
    throw error;
  }
  const message =
    `Kueue does not manage pods of the namespace ${job.metadata.namespace}: install it with the integration "pod", or remove ` +
    `the label ${KUEUE_QUEUE}`;
  return { reason: "QueueNotServed", message };
}
