import { defineKind, type ObjectOf, z } from "konverge";
import { jobColumns } from "./job-columns.ts";
import { jobStatus, replicaSpecs, runPolicy } from "./job-fields.ts";

/** An XGBoost or LightGBM training job: a master and workers. */
export const XGBoostJob = defineKind({
  group: "kubeflow.org",
  kind: "XGBoostJob",
  versions: {
    v1: {
      spec: z.object({
        runPolicy: runPolicy(),
        xgbReplicaSpecs: replicaSpecs().describe("By type: Master, Worker."),
      }),
      status: jobStatus(),
      columns: jobColumns,
    },
  },
});
export type XGBoostJob = ObjectOf<typeof XGBoostJob>;
