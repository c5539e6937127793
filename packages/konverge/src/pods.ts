/**
 * Pods that operators make: the template that a user can add to, the security defaults, the GPUs they run on; and why pods do not run (image
 * pulls, crashes, scheduling, volumes, quotas, rejected pods), and how an operator reports it in conditions and events.
 */
export {
  failedCreateMessage,
  gpuProductAffinity,
  gpuProductsFor,
  gpuProductsIn,
  gpuProductsOf,
  isGpuOfType,
  type ObservedPods,
  POD_PROBLEM_GRACE_MS,
  type PodProblem,
  type PodProblemReason,
  type PodSecurityOptions,
  type PodTemplateField,
  type PodTemplateOptions,
  type PodTemplateOverlay,
  podCreationProblem,
  podProblem,
  podTemplate,
  podTemplateErrors,
  podTemplateField,
  problemConditions,
  replicaFailureMessage,
  reportProblem,
  restrictedPodSpec,
  type WorkloadProblem,
  watchGpuNodes,
  workloadProblem,
} from "@konverge/runtime";
