import type { ReconcileContext } from "konverge";
import { ConfigMap } from "konverge/kinds";
import { OPERATOR_NAME } from "./names.ts";
import type { TrainJob } from "./train-job.ts";
import { TRAIN_CONTROLLER } from "./train-pods.ts";
import { ClusterTrainingRuntime, type RuntimeSpec, TRAINER_GROUP, TrainingRuntime } from "./training-runtime.ts";

/** The runtime of a job, and whether the job has its own copy of it. */
export interface FoundRuntime {
  readonly spec: RuntimeSpec;
  readonly isStored: boolean;
}

const copyName = ({ metadata }: TrainJob) => `${metadata.name}-runtime-snapshot`;

/** The keys of the runtimes of a kind that a job refers to. */
export function runtimeKeys({ metadata, spec }: TrainJob, kind: "TrainingRuntime" | "ClusterTrainingRuntime") {
  const { name, kind: wanted, apiGroup } = spec.runtimeRef;
  if (wanted !== kind || apiGroup !== TRAINER_GROUP) return [];
  return [kind === "TrainingRuntime" ? `${metadata.namespace}/${name}` : name];
}

/** A job keeps the runtime that it was started with: from then on it makes no difference what becomes of that. */
export function runtimeOf(job: TrainJob, { observed, cache }: ReconcileContext): FoundRuntime | undefined {
  const copy = observed(ConfigMap, copyName(job))?.data?.["runtime"];
  if (copy) return { spec: (JSON.parse(copy) as { spec: RuntimeSpec }).spec, isStored: true };
  const [key] = runtimeKeys(job, "TrainingRuntime");
  const [clusterKey] = runtimeKeys(job, "ClusterTrainingRuntime");
  const live = key ? cache.get(TrainingRuntime, key) : clusterKey && cache.get(ClusterTrainingRuntime, clusterKey);
  return live ? { spec: live.spec, isStored: false } : undefined;
}

/** The copy of its runtime that a job keeps, as upstream writes it. It cannot be edited. */
export function runtimeCopyFor(job: TrainJob, { spec }: FoundRuntime) {
  const { name, kind, apiGroup } = job.spec.runtimeRef;
  return ConfigMap.draft({
    metadata: {
      name: copyName(job),
      namespace: job.metadata.namespace!,
      labels: { [OPERATOR_NAME]: TRAIN_CONTROLLER },
    },
    immutable: true,
    data: { runtime: JSON.stringify({ apiVersion: `${apiGroup}/v1alpha1`, kind, metadata: { name }, spec }) },
  });
}
