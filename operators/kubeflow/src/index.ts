/**
 * Kubeflow's jobs: PyTorchJob, TFJob, XGBoostJob, MXJob, MPIJob and TrainJob, under upstream's names, labels, variables and
 * conditions.
 *
 * One core runs the first four. An object is read into a {@link Job} with all defaults. A {@link Framework} defines what
 * distinguishes a kind: its replica types, what their pods need to find each other, and when the job is done. `survey`
 * inspects the pods and writes a {@link JobReport}; the report is stored in the status before anything is done about it, and
 * the next reconcile acts on the stored status. An MPIJob uses the same core for its workers; {@link mpiJobController} adds
 * the launcher, the hosts and the keys. A TrainJob is rendered from a {@link TrainingRuntime} into the Jobs of
 * {@link stepsOf}, and {@link trainJobController} creates them in order.
 *
 * Guarantees: a manifest has the same result as with upstream's operator, except for the differences in the README; a
 * finished job never changes; where upstream's operator is installed, this one changes nothing.
 */
export * from "./batch-jobs.ts";
export * from "./first-occurrences.ts";
export * from "./framework.ts";
export * from "./gang-scheduler.ts";
export * from "./job.ts";
export * from "./job-admission.ts";
export * from "./job-children.ts";
export * from "./job-conditions.ts";
export * from "./job-controller.ts";
export * from "./job-fields.ts";
export * from "./job-metrics.ts";
export * from "./job-pods.ts";
export * from "./job-report.ts";
export * from "./job-tools.ts";
export * from "./mpi-children.ts";
export * from "./mpi-framework.ts";
export * from "./mpi-job.ts";
export * from "./mpi-job-controller.ts";
export * from "./mpi-rules.ts";
export * from "./mx-framework.ts";
export * from "./mx-job.ts";
export * from "./names.ts";
export * from "./operator.ts";
export * from "./pod-group-marks.ts";
export * from "./pytorch-framework.ts";
export * from "./pytorch-job.ts";
export * from "./spec-problems.ts";
export * from "./ssh-key.ts";
export * from "./tf-framework.ts";
export * from "./tf-job.ts";
export * from "./train-job.ts";
export * from "./train-job-controller.ts";
export * from "./train-plan.ts";
export * from "./train-pod-group.ts";
export * from "./train-rules.ts";
export * from "./training-runtime.ts";
export * from "./wait-for-master.ts";
export * from "./xgboost-framework.ts";
export * from "./xgboost-job.ts";
