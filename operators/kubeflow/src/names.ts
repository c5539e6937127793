/** Labels by which Kubeflow's tools know the pods and Services of jobs. */
export const OPERATOR_NAME = "training.kubeflow.org/operator-name";
export const JOB_NAME = "training.kubeflow.org/job-name";
export const REPLICA_TYPE = "training.kubeflow.org/replica-type";
export const REPLICA_INDEX = "training.kubeflow.org/replica-index";
export const JOB_ROLE = "training.kubeflow.org/job-role";

/** What a pod and its Service are both called. */
export function replicaName(job: string, type: string, index: number): string {
  return `${job}-${type.toLowerCase()}-${index}`;
}
