/**
 * The training operator: a TrainingJob becomes a gang of workers that know of each other, start together, and are
 * restarted together when one of them fails.
 *
 * A job's pods are read into a {@link Gang}; {@link judge} says from it what has happened. A verdict is stored in the
 * job's status before anything is done about it, and the next look acts on what is stored: so a gang is restarted once
 * and counted once, whenever the operator itself stops. What workers print on their output (`@progress {…}`) becomes
 * progress, an estimate of the end, stragglers and the last checkpoint in the status.
 *
 * It promises: no worker of one gang runs beside one of the next, except on a node that is lost; a new version of the operator leaves pods alone
 * that train; checkpoints outlive the job unless it says otherwise.
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
