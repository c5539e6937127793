/**
 * Why pods do not run, and how an operator reports it.
 *
 * An owner of pods learns only that fewer are ready than it requested; the cause stands in the pods, or in the error of
 * creating them. {@link podProblem} reads one pod, {@link workloadProblem} all pods of an object together with what prevents
 * more of them ({@link replicaFailureMessage} of a Deployment, {@link failedCreateMessage} of a StatefulSet,
 * {@link podCreationProblem} of the operator's own request). {@link reportProblem} records an event, once, and
 * {@link problemConditions} are the conditions while the problem lasts.
 *
 * Reasons and messages stay the same as long as the cause does: retries and back-off times that a kubelet adds are left out, so
 * that a problem that lasts writes nothing. A pod that waits for a node or a volume counts only after
 * {@link POD_PROBLEM_GRACE_MS}; no event marks the end of that time, so requeue after it.
 */
export { type PodProblem, type PodProblemReason, podProblem } from "./pod-problem.ts";
export { type ObservedPods, POD_PROBLEM_GRACE_MS, type WorkloadProblem, workloadProblem } from "./problem.ts";
export { failedCreateMessage, podCreationProblem, replicaFailureMessage } from "./refusal.ts";
export { problemConditions, reportProblem } from "./tell-problem.ts";
