import { OPERATOR_NAME } from "./names.ts";
import type { TrainJob } from "./train-job.ts";
import type { ReplicatedJob, RuntimeSpec } from "./training-runtime.ts";

/** The value of the label that says who made an object. */
export const TRAIN_CONTROLLER = "trainjob-controller";
/** Labels of JobSets, by which Kubeflow's SDK finds the pods of a TrainJob. */
export const JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name";
export const STEP_NAME = "jobset.sigs.k8s.io/replicatedjob-name";
/** Which part of a TrainJob a Job of the runtime is for. */
const ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step";

/** The Job whose pods train, and the container in them. */
export const NODE = "node";
/** The Job that starts the processes of MPI. */
export const LAUNCHER = "launcher";

/** The container of an ancestor that a TrainJob overrides. */
export const CONTAINER_OF: Readonly<Record<string, string>> = {
  trainer: NODE,
  "dataset-initializer": "dataset-initializer",
  "model-initializer": "model-initializer",
};

export const ancestorOf = ({ template }: ReplicatedJob) => template.metadata?.labels?.[ANCESTOR];

export const ownLabels = ({ metadata }: TrainJob) => ({
  [OPERATOR_NAME]: TRAIN_CONTROLLER,
  [JOBSET_NAME]: metadata.name,
});

/** How many pods a Job has. */
export function countOf({ spec }: TrainJob, step: ReplicatedJob, { mlPolicy }: RuntimeSpec): number {
  const own = step.template.spec?.parallelism;
  const wanted = spec.trainer?.numNodes;
  if (mlPolicy?.mpi && step.name === LAUNCHER) return 1;
  if (mlPolicy?.mpi && step.name === NODE) {
    // One of the nodes is the launcher.
    const beside = (nodes: number) => (mlPolicy.mpi?.runLauncherAsNode ? Math.max(nodes - 1, 1) : nodes);
    return wanted === undefined ? (own ?? beside(mlPolicy.numNodes ?? 1)) : beside(wanted);
  }
  if (ancestorOf(step) !== "trainer") return own ?? 1;
  return wanted ?? (mlPolicy ? (mlPolicy.numNodes ?? 1) : (own ?? 1));
}

/** The Service that gives pods their names; undefined if the runtime wants none. */
export function subdomainOf({ metadata }: TrainJob, { template }: RuntimeSpec): string | undefined {
  const { enableDNSHostnames = true, subdomain } = template.spec.network ?? {};
  return enableDNSHostnames ? subdomain || metadata.name : undefined;
}

/** The names by which the pods of a Job are reached. */
export function hostsOf(job: TrainJob, step: ReplicatedJob, runtime: RuntimeSpec): string[] {
  const { name } = job.metadata;
  const count = countOf(job, step, runtime);
  const subdomain = subdomainOf(job, runtime) ?? name;
  return Array.from({ length: step.replicas * count }, (_, pod) => {
    const index = `${Math.floor(pod / count)}-${pod % count}`;
    return `${name}-${step.name}-${index}.${subdomain}`;
  });
}
