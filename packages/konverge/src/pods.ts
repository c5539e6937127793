/**
 * Why pods do not run: image pulls, crashes, scheduling, volumes, quotas, rejected pods; and how an operator reports it in
 * conditions and events.
 */
export {
  failedCreateMessage,
  type ObservedPods,
  POD_PROBLEM_GRACE_MS,
  type PodProblem,
  type PodProblemReason,
  podCreationProblem,
  podProblem,
  problemConditions,
  replicaFailureMessage,
  reportProblem,
  type WorkloadProblem,
  workloadProblem,
} from "@konverge/runtime";
