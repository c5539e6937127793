/**
 * Kubeflow's jobs: PyTorchJob, TFJob, XGBoostJob, MXJob, MPIJob and TrainJob, under upstream's names, labels, variables and
 * conditions.
 *
 * One core runs the first four. An object is read into a {@link Job}, in which what users may leave out is filled in. A
 * {@link Framework} says what distinguishes a kind: its types of replicas, what their pods need to find each other, and
 * when the job is done. `survey` looks at the pods and writes a {@link JobReport}; the report is stored in the status
 * before anything is done about it, and the next look acts on what is stored. An MPIJob is one of them as far as its workers
 * go; {@link mpiJobController} adds the launcher, the hosts and the keys. A
 * TrainJob is rendered from a {@link TrainingRuntime} into Jobs, as {@link stepsOf} says, and {@link trainJobController} creates
 * them one after the other.
 *
 * It promises: what upstream's operator makes of a manifest, this one makes of it too, but for the differences that the
 * README lists; a job that has ended stays as it ended; where upstream's operator is installed, nothing is touched.
 */
export * from "./batch-jobs.ts";
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
export * from "./pytorch-framework.ts";
export * from "./pytorch-job.ts";
export * from "./seen-once.ts";
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
