import { ageColumn, cel, defineKind, type ObjectOf, wideColumn } from "konverge";
import { fromStored, toStored } from "./training-job-conversion.ts";
import { trainingJobStatus } from "./training-job-status.ts";
import { trainingJobV1alpha1 } from "./training-job-v1alpha1.ts";
import { trainingJobV1beta1 } from "./training-job-v1beta1.ts";

/** The name of a job becomes part of host names, which are labels of at most 63 characters. */
export const LONGEST_JOB_NAME = 50;

const columns = {
  Framework: ".spec.framework",
  Workers: ".spec.workers",
  Phase: ".status.phase",
  Progress: wideColumn(".status.progress.percent"),
  Restarts: wideColumn(".status.restarts"),
  Ends: wideColumn({ jsonPath: ".status.progress.estimatedCompletionTime", type: "string" }),
  Age: ageColumn,
};

const nameRules = [
  cel(
    `size(self.metadata.name) <= ${LONGEST_JOB_NAME} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
    `the name becomes part of host names: at most ${LONGEST_JOB_NAME} lowercase letters, digits and dashes, starting with a letter`,
  ),
];

/** Rules that a spec of either version holds, where `workers` and the like are found at these paths. */
const rules = (worker: { count: string; gpus: string; gpuType: string; ps: string }) => [
  cel(
    `!has(self.elastic) || self.elastic.minWorkers <= self.elastic.maxWorkers`,
    "elastic.minWorkers must not exceed elastic.maxWorkers",
  ),
  cel(
    `!has(self.elastic) || (${worker.count} >= self.elastic.minWorkers && ${worker.count} <= self.elastic.maxWorkers)`,
    "the number of workers must be within the bounds of elastic",
  ),
  cel(
    `!has(self.elastic) || self.framework == 'pytorch'`,
    "only pytorch can change the number of workers during training: omit elastic",
  ),
  cel(
    `!has(self.${worker.ps}) || self.framework == 'tensorflow'`,
    `parameter servers need TensorFlow: set framework to tensorflow, or omit ${worker.ps} out`,
  ),
  cel(`!has(self.${worker.gpuType}) || self.${worker.gpus} > 0`, "gpuType is set, but no GPUs are requested"),
];

/** A training that several workers do together. */
export const TrainingJob = defineKind({
  group: "ml.example.com",
  kind: "TrainingJob",
  shortNames: ["tj"],
  categories: ["all"],
  stored: "v1alpha1",
  versions: {
    v1alpha1: {
      spec: trainingJobV1alpha1,
      status: trainingJobStatus,
      columns,
      scale: { replicas: ".spec.workers", statusReplicas: ".status.workers", selector: ".status.selector" },
      rules: [
        ...rules({ count: "self.workers", gpus: "gpuPerWorker", gpuType: "gpuType", ps: "parameterServers" }),
        cel(
          "!has(self.checkpointVolume) || has(self.checkpointDir)",
          "checkpointVolume needs checkpointDir: the path of checkpoints",
        ),
        cel(
          "!has(self.checkpointVolume) || has(self.checkpointVolume.claimName) != has(self.checkpointVolume.size)",
          "checkpointVolume needs either claimName or size",
        ),
      ],
      objectRules: nameRules,
    },
    v1beta1: {
      spec: trainingJobV1beta1,
      status: trainingJobStatus,
      columns: { ...columns, Workers: ".spec.worker.replicas" },
      scale: { replicas: ".spec.worker.replicas", statusReplicas: ".status.workers", selector: ".status.selector" },
      rules: [
        ...rules({
          count: "self.worker.replicas",
          gpus: "worker.gpus",
          gpuType: "worker.gpuType",
          ps: "parameterServers",
        }),
        cel(
          "!has(self.checkpoint) || !has(self.checkpoint.volume) || has(self.checkpoint.volume.claimName) != has(self.checkpoint.volume.size)",
          "checkpoint.volume needs either claimName or size",
        ),
      ],
      objectRules: nameRules,
    },
  },
  conversion: { v1beta1: { toStored, fromStored } },
});
export type TrainingJob = ObjectOf<typeof TrainingJob>;
