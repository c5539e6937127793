import { defineKind, type ObjectOf, z } from "konverge";
import { jobColumns } from "./job-columns.ts";
import { jobStatus, replicaSpecs, runPolicy } from "./job-fields.ts";

/** Who looks after an MPIJob, unless it says otherwise. */
export const MPI_MANAGER = "kubeflow.org/mpi-operator";

/** A job of MPI: a launcher that starts processes on workers over SSH. */
export const MPIJob = defineKind({
  group: "kubeflow.org",
  kind: "MPIJob",
  versions: {
    v2beta1: {
      spec: z.object({
        slotsPerWorker: z.int32().min(0).default(1).describe("Processes per worker."),
        runLauncherAsWorker: z.boolean().optional().describe("Processes run in the launcher, too."),
        runPolicy: runPolicy(MPI_MANAGER),
        mpiReplicaSpecs: replicaSpecs().describe("By type: Launcher, Worker."),
        sshAuthMountPath: z.string().min(1).default("/root/.ssh").describe("Where the SSH keys are in the containers."),
        launcherCreationPolicy: z
          .enum(["AtStartup", "WaitForWorkersReady"])
          .default("AtStartup")
          .describe("When the launcher is created."),
        mpiImplementation: z.enum(["OpenMPI", "Intel", "MPICH"]).default("OpenMPI"),
      }),
      status: jobStatus(),
      columns: jobColumns,
    },
  },
});
export type MPIJob = ObjectOf<typeof MPIJob>;
