import { defineKind, type ObjectOf, z } from "konverge";
import { jobColumns } from "./job-columns.ts";
import { jobStatus, replicaSpecs, runPolicy } from "./job-fields.ts";

/** A TensorFlow training job: a chief, workers, parameter servers, an evaluator. */
export const TFJob = defineKind({
  group: "kubeflow.org",
  kind: "TFJob",
  versions: {
    v1: {
      spec: z.object({
        runPolicy: runPolicy(),
        tfReplicaSpecs: replicaSpecs().describe("By type: Chief or Master, Worker, PS, Evaluator."),
        successPolicy: z
          .enum(["", "AllWorkers"])
          .optional()
          .describe("Without a chief: the job is done when the first worker is, or when all are."),
        enableDynamicWorker: z.boolean().optional().describe("Workers can fail, and each knows only itself."),
      }),
      status: jobStatus(),
      columns: jobColumns,
    },
  },
});
export type TFJob = ObjectOf<typeof TFJob>;
