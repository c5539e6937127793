import { ageColumn, defineKind, type ObjectOf, opaqueObject, z } from "konverge";
import type { PodTemplateSpec } from "konverge/kinds";
import { managedBy, rayClusterSpec } from "./ray-cluster.ts";
import { rayKind } from "./ray-kind.ts";

const policy = z.enum(["DeleteWorkers", "DeleteCluster", "DeleteSelf", "DeleteNone"]);
const time = () => z.iso.datetime().optional();

/** Of a job, and of those of a schedule. */
export const rayJobSpec = z.object({
  entrypoint: z.string().optional().describe("The command of the job, as a shell line. It runs on the head."),
  rayClusterSpec: rayClusterSpec
    .optional()
    .describe("The cluster that is created for the job. Each try has a new one."),
  clusterSelector: z
    .record(z.string(), z.string())
    .optional()
    .describe("The cluster that the job runs on instead: ray.io/cluster is its name. It stays as it is."),
  managedBy: managedBy(),
  runtimeEnvYAML: z.string().optional().describe("Ray's runtime environment, as YAML."),
  jobId: z
    .string()
    .optional()
    .describe(
      "The submission ID. Default: the name of the cluster. In InteractiveMode, that of the job that a user submitted.",
    ),
  metadata: z.record(z.string(), z.string()).optional().describe("Stored with the job in Ray."),
  entrypointNumCpus: z.number().min(0).optional(),
  entrypointNumGpus: z.number().min(0).optional(),
  entrypointResources: z.string().optional().describe('Custom resources of the entrypoint, as JSON: {"custom": 1}.'),
  submissionMode: z
    .enum(["K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode"])
    .default("K8sJobMode")
    .describe(
      "Who submits the job: a Kubernetes Job, the operator over HTTP, a container beside the head, or a user, who sets jobId then.",
    ),
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
  preRunningDeadlineSeconds: z.int().min(1).optional().describe("A job that does not run after this time has failed."),
  deletionStrategy: z
    .object({
      onSuccess: z.object({ policy }).optional(),
      onFailure: z.object({ policy }).optional(),
      deletionRules: z
        .array(
          z.object({
            policy,
            condition: z.object({
              jobStatus: z.enum(["SUCCEEDED", "FAILED"]).optional(),
              jobDeploymentStatus: z.enum(["Failed"]).optional(),
              ttlSeconds: z.int().min(0).default(0).describe("How long after the end."),
            }),
          }),
        )
        .min(1)
        .optional(),
    })
    .optional()
    .describe("What is deleted when the job has finished. Either rules, or onSuccess and onFailure."),
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
    .enum(["Initializing", "Waiting", "Running", "Complete", "Failed", "Suspending", "Suspended", "Retrying"])
    .optional(),
  reason: z.enum(["SubmissionFailed", "DeadlineExceeded", "PreRunningDeadlineExceeded", "AppFailed"]).optional(),
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
export const RayJob = defineKind(rayKind("RayJob", { spec: rayJobSpec, status, columns }));
export type RayJob = ObjectOf<typeof RayJob>;
