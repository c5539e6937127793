import { defineKind, type ObjectOf, opaqueObject, z } from "konverge";
import { jobColumns } from "./job-columns.ts";
import { jobStatus, replicaSpecs, runPolicy } from "./job-fields.ts";

const elasticPolicy = z.object({
  minReplicas: z.int32().min(0).optional().describe("Default: maxReplicas."),
  maxReplicas: z.int32().min(0).optional().describe("Default: minReplicas, or the replicas of Worker."),
  rdzvBackend: z.enum(["c10d", "etcd", "etcd-v2"]).optional().describe("Default: c10d."),
  rdzvPort: z.int().min(1).max(65_535).optional().describe("Default: the port of the workers."),
  rdzvHost: z.string().optional().describe("Default: the first worker."),
  rdzvId: z.string().optional(),
  rdzvConf: z.array(z.object({ key: z.string().optional(), value: z.string().optional() })).optional(),
  standalone: z.boolean().optional(),
  nProcPerNode: z.int().min(1).optional().describe("Deprecated: use spec.nprocPerNode."),
  maxRestarts: z.int32().min(0).optional(),
  metrics: z
    .array(opaqueObject<{ type: string }>())
    .optional()
    .describe("Metrics of the workers' HorizontalPodAutoscaler. Without them there is none."),
});

/** A PyTorch training job: a master and workers, or workers alone. */
export const PyTorchJob = defineKind({
  group: "kubeflow.org",
  kind: "PyTorchJob",
  versions: {
    v1: {
      spec: z.object({
        runPolicy: runPolicy(),
        elasticPolicy: elasticPolicy.optional().describe("The number of workers can change within these bounds."),
        pytorchReplicaSpecs: replicaSpecs().describe("By type: Master, Worker."),
        nprocPerNode: z
          .string()
          .optional()
          .describe("Processes in each pod: auto, cpu, gpu or a number. Default: auto."),
      }),
      status: jobStatus(),
      columns: jobColumns,
      scale: {
        replicas: ".spec.pytorchReplicaSpecs.Worker.replicas",
        statusReplicas: ".status.replicaStatuses.Worker.active",
        selector: ".status.replicaStatuses.Worker.selector",
      },
    },
  },
});
export type PyTorchJob = ObjectOf<typeof PyTorchJob>;
