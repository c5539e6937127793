import type { TrainingJob } from "./training-job.ts";

/** What a pod of a job does. */
export type Role = "worker" | "ps";

/** The label by which everything of a job is found. */
export const JOB_LABEL = "ml.example.com/training-job";
export const ROLE_LABEL = "ml.example.com/role";
export const INDEX_LABEL = "ml.example.com/index";
/** The gang that a pod belongs to, see `attempt` in the status. */
export const ATTEMPT_LABEL = "ml.example.com/attempt";
/** What the job asked for when the pod was made. */
export const SPEC_LABEL = "ml.example.com/spec";

/** The container that trains. */
export const CONTAINER = "trainer";

export function podName(job: TrainingJob, role: Role, index: number): string {
  return `${job.metadata.name}-${role}-${index}`;
}

/** The headless Service in which every pod has a name. */
export function serviceName(job: TrainingJob): string {
  return `${job.metadata.name}-workers`;
}

/** The name under which a pod is reached, without a port. */
export function hostOf(job: TrainingJob, role: Role, index: number): string {
  return `${podName(job, role, index)}.${serviceName(job)}.${job.metadata.namespace}.svc`;
}

export function hyperparametersName(job: TrainingJob): string {
  return `${job.metadata.name}-hyperparameters`;
}

/** The claim that is made for checkpoints. */
export function checkpointClaimName(job: TrainingJob): string {
  return `${job.metadata.name}-checkpoints`;
}

/** Labels of all that is made for a job. */
export function labelsOf(job: TrainingJob): Record<string, string> {
  return { "app.kubernetes.io/managed-by": "training-operator", [JOB_LABEL]: job.metadata.name };
}
