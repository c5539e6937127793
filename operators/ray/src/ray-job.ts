import { ageColumn, defineKind, type ObjectOf, opaqueObject, z } from "konverge";
import type { PodTemplateSpec } from "konverge/kinds";
import { rayClusterSpec } from "./ray-cluster.ts";
import { rayKind } from "./ray-kind.ts";

const time = () => z.iso.datetime().optional();

const spec = z.object({
  entrypoint: z.string().min(1).describe("The command of the job, as a shell line. It runs on the head."),
  rayClusterSpec: rayClusterSpec.describe("The cluster that is created for the job. Each try has a new one."),
  runtimeEnvYAML: z.string().optional().describe("Ray's runtime environment, as YAML."),
  jobId: z.string().optional().describe("The submission ID. Default: the name of the cluster."),
  metadata: z.record(z.string(), z.string()).optional().describe("Stored with the job in Ray."),
  entrypointNumCpus: z.number().min(0).optional(),
  entrypointNumGpus: z.number().min(0).optional(),
  entrypointResources: z.string().optional().describe('Custom resources of the entrypoint, as JSON: {"custom": 1}.'),
  submissionMode: z.enum(["K8sJobMode"]).default("K8sJobMode").describe("A Kubernetes Job submits it."),
  submitterPodTemplate: opaqueObject<PodTemplateSpec>()
    .optional()
    .describe("The pod that submits the job. Its first container gets the command, unless it has one."),
  submitterConfig: z
    .object({ backoffLimit: z.int().min(0).default(2).describe("How often a submitting pod that fails is replaced.") })
    .optional(),
  backoffLimit: z.int().min(0).default(0).describe("How often a failed job is tried again, on another cluster."),
  activeDeadlineSeconds: z
    .int()
    .min(1)
    .optional()
    .describe("After this time the job has failed; its cluster is deleted."),
  shutdownAfterJobFinishes: z.boolean().default(false).describe("Deletes the cluster when the job has finished."),
  ttlSecondsAfterFinished: z
    .int()
    .min(0)
    .default(0)
    .describe("How long the cluster is kept then. Only with shutdownAfterJobFinishes."),
  suspend: z
    .boolean()
    .optional()
    .describe("Deletes the cluster; when it is false again, the job starts from the beginning."),
});

const status = z.object({
  jobId: z.string().optional(),
  rayClusterName: z.string().optional(),
  dashboardURL: z.string().optional(),
  jobStatus: z.enum(["PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED"]).optional(),
  jobDeploymentStatus: z
    .enum(["Initializing", "Running", "Complete", "Failed", "Suspending", "Suspended", "Retrying"])
    .optional(),
  reason: z.enum(["SubmissionFailed", "DeadlineExceeded", "AppFailed"]).optional(),
  message: z.string().optional(),
  startTime: time().describe("When the job was started, or resumed."),
  endTime: time(),
  succeeded: z.int().optional(),
  failed: z.int().optional().describe("How many tries have failed."),
});

const columns = {
  "job status": ".status.jobStatus",
  "deployment status": ".status.jobDeploymentStatus",
  "ray cluster name": ".status.rayClusterName",
  "start time": ".status.startTime",
  "end time": ".status.endTime",
  age: ageColumn,
};

/** A job that runs on a dedicated Ray cluster. */
export const RayJob = defineKind(rayKind("RayJob", { spec, status, columns }));
export type RayJob = ObjectOf<typeof RayJob>;
