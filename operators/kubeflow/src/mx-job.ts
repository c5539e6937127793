import { defineKind, type ObjectOf, z } from "konverge";
import { jobColumns } from "./job-columns.ts";
import { jobStatus, replicaSpecs, runPolicy } from "./job-fields.ts";

/** An MXNet job: a scheduler, servers and workers, or what tunes a model. */
export const MXJob = defineKind({
  group: "kubeflow.org",
  kind: "MXJob",
  versions: {
    v1: {
      spec: z.object({
        runPolicy: runPolicy(),
        jobMode: z.enum(["MXTrain", "MXTune"]),
        mxReplicaSpecs: replicaSpecs().describe(
          "By type: Scheduler, Server, Worker; to tune: TunerTracker, TunerServer, Tuner.",
        ),
      }),
      status: jobStatus(),
      columns: jobColumns,
    },
  },
});
export type MXJob = ObjectOf<typeof MXJob>;
