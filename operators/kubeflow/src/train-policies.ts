import type { EnvVar, ResourceRequirements } from "konverge/kinds";
import { parseQuantity } from "konverge/objects";
import { MPI_VARIABLES } from "./mpi-access.ts";
import type { TrainJob } from "./train-job.ts";
import type { RuntimeSpec } from "./training-runtime.ts";

/** The port of the pod that the others connect to. */
export const TRAINER_PORT = 29500;

/** What the variables of a policy are made from. */
interface Training {
  readonly job: TrainJob;
  /** Number of pods that train. */
  readonly nodes: number;
  /** Of the runtime's container, before the job's are merged into them. */
  readonly resources: ResourceRequirements | undefined;
}

/** The variables by which the pods of a training find each other; none if each of them trains alone. */
export function policyVariables({ mlPolicy }: RuntimeSpec, training: Training): EnvVar[] {
  if (mlPolicy?.torch) return torchVariables(training);
  if (mlPolicy?.jax) return jaxVariables(training);
  if (mlPolicy?.xgboost) return xgboostVariables(training);
  return [];
}

/** Names that users cannot set because the policy does. */
export function reservedNames({ mlPolicy }: RuntimeSpec, job: TrainJob): string[] {
  if (mlPolicy?.mpi) return Object.keys(MPI_VARIABLES.OpenMPI(1));
  if (!mlPolicy?.torch && !mlPolicy?.xgboost) return [];
  return policyVariables({ mlPolicy } as RuntimeSpec, { job, nodes: 1, resources: undefined }).map(({ name }) => name);
}

const firstPod = ({ metadata }: TrainJob) => `${metadata.name}-node-0-0.${metadata.name}`;

/** A variable with the index of its pod. */
const rank = (name: string): EnvVar => ({
  name,
  valueFrom: { fieldRef: { fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']" } },
});

function torchVariables({ job, nodes, resources }: Training): EnvVar[] {
  const { numProcPerNode, resourcesPerNode } = job.spec.trainer ?? {};
  return [
    { name: "PET_NNODES", value: String(nodes) },
    { name: "PET_NPROC_PER_NODE", value: String(numProcPerNode ?? processesOn(resourcesPerNode ?? resources)) },
    rank("PET_NODE_RANK"),
    { name: "PET_MASTER_ADDR", value: firstPod(job) },
    { name: "PET_MASTER_PORT", value: String(TRAINER_PORT) },
  ];
}

function jaxVariables({ job, nodes }: Training): EnvVar[] {
  return [
    { name: "JAX_NUM_PROCESSES", value: String(nodes) },
    rank("JAX_PROCESS_ID"),
    { name: "JAX_COORDINATOR_ADDRESS", value: `${firstPod(job)}:${TRAINER_PORT}` },
  ];
}

function xgboostVariables({ job, nodes, resources }: Training): EnvVar[] {
  const perNode = gpusOf(job.spec.trainer?.resourcesPerNode ?? resources) || 1;
  return [
    { name: "DMLC_TRACKER_URI", value: firstPod(job) },
    { name: "DMLC_TRACKER_PORT", value: String(TRAINER_PORT) },
    rank("DMLC_TASK_ID"),
    { name: "DMLC_NUM_WORKER", value: String(nodes * perNode) },
  ];
}

type Resources = { readonly [list in "limits" | "requests"]?: Readonly<Record<string, string | number>> };

/** torchrun counts GPUs itself; a process per CPU it would start for all that the node has. */
function processesOn(resources: Resources | undefined): string {
  if (gpusOf(resources) > 0) return "auto";
  const { requests, limits } = resources ?? {};
  return String(Math.max(1, whole(requests?.["cpu"]) || whole(limits?.["cpu"])));
}

/** GPUs of a container. */
export function gpusOf({ requests, limits }: Resources = {}): number {
  const count = (list: Resources["limits"] = {}) =>
    whole(Object.entries(list).find(([name]) => name.toLowerCase().includes("gpu"))?.[1]);
  return count(requests) || count(limits);
}

/** A quantity as a whole number, rounded up. */
const whole = (quantity: string | number | undefined) => Number(parseQuantity(String(quantity ?? 0)).value());
