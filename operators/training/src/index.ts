/**
 * The training operator: a TrainingJob becomes a gang of workers that know each other's addresses, start together, and
 * are restarted together when one of them fails.
 *
 * A job's pods are read into a {@link Gang}; {@link judge} derives a verdict from it. The verdict is stored in the job's
 * status before anything is done about it, and the next reconcile acts on the stored status: a gang is restarted once and
 * counted once, no matter when the operator stops. What workers print (`@progress {…}`) becomes progress, an estimated
 * completion time, stragglers and the last checkpoint in the status.
 *
 * Guarantees: workers of two gangs never run at the same time, except on a lost node; a new version of the operator does
 * not disturb running pods; checkpoints outlive the job unless its spec says otherwise.
 */
export * from "./gang.ts";
export * from "./gang-scheduler.ts";
export * from "./hyperparameters.ts";
export * from "./job-progress.ts";
export * from "./kueue.ts";
export * from "./names.ts";
export * from "./operator.ts";
export * from "./pod-state.ts";
export * from "./progress-report.ts";
export * from "./training-job.ts";
export * from "./training-job-admission.ts";
export * from "./training-job-controller.ts";
export * from "./training-job-status.ts";
export * from "./verdict.ts";
export * from "./worker-environment.ts";
export * from "./worker-pod.ts";
export * from "./worker-service.ts";
