import type { ObservedChild } from "konverge";
import type { Job as BatchJob, Pod } from "konverge/kinds";
import { endOf } from "./batch-jobs.ts";
import type { Evidence, Framework } from "./framework.ts";
import { type Job, replicaOf } from "./job.ts";
import { phaseOf, replicaStatus } from "./job-pods.ts";
import type { JobReport } from "./job-report.ts";
import { MPI_OPERATOR, workerTemplate } from "./mpi-children.ts";
import { MPIJob } from "./mpi-job.ts";

/** The launcher of a job as it is now. */
export interface Launcher {
  readonly job: ObservedChild<BatchJob> | undefined;
  readonly pods: readonly Pod[];
}

/** MPI: the workers are pods of the job; the launcher, whose end is that of the job, is a Job. */
export function mpi(launcher: Launcher = { job: undefined, pods: [] }): Framework<MPIJob> {
  return {
    kind: MPIJob,
    name: "mpi",
    controller: MPI_OPERATOR,
    types: ["Worker"],
    container: "",
    port: { name: "", number: 0 },
    restartPolicy: "Never",
    replicaSpecs: ({ spec }) => spec.mpiReplicaSpecs,
    replicaSpecsPath: "spec.mpiReplicaSpecs",
    isMaster: () => false,
    complete: (job, { index }) => workerTemplate(job.object, index),
    judge: (job, evidence, report) => judge(job, evidence, report, launcher),
  };
}

function judge(job: Job<MPIJob>, { counts, pods }: Evidence, report: JobReport, launcher: Launcher): void {
  const name = `${job.namespace}/${job.name}`;
  const workers = replicaOf(job, "Worker");
  const { active } = counts.get("Worker") ?? { active: 0 };
  const launchers = launcher.pods.filter(({ status }) => status?.phase === "Running").length;
  const end = endOf(launcher.job);
  const { failed = 0 } = launcher.job?.status ?? {};
  report.replicas({
    ...(launcher.job && {
      Launcher: {
        ...(!end && launchers > 0 && { active: launchers }),
        ...(end?.type === "Complete" && { succeeded: 1 }),
        ...(failed > 0 && { failed }),
      },
    }),
    ...(workers && {
      Worker: replicaStatus(counts.get("Worker")!, job, workers, { controller: MPI_OPERATOR }),
    }),
  });
  if (end) {
    if (end.type === "Complete") report.succeeded(`MPIJob ${name} successfully completed.`);
    else report.failed(end.message || `MPIJob ${name} has failed`, "Warning", end.reason || undefined);
    return;
  }
  const evicted = pods.filter((one) => phaseOf(one) === "Failed" && one.pod.status?.reason === "Evicted").length;
  if (evicted > 0) report.failed(`${evicted}/${workers?.count ?? 0} workers are evicted`, "Warning", "MPIJobEvicted");
  else if (launchers > 0 && active === (workers?.count ?? 0)) report.running(`MPIJob ${name} is running.`);
}
