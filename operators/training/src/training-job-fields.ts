import { listMap, opaqueObject, quantity, z } from "konverge";
import type { EnvVarSource, Toleration } from "konverge/kinds";
import { podTemplateField } from "konverge/pods";

/** What both versions of TrainingJob share: each field once, with its bounds and its words. */

/** A path from the root. */
const path = () => z.string().regex(/^\//).max(1024);
const seconds = () => z.int().min(0);
const amounts = () => z.record(z.string(), quantity());

export const framework = z.enum(["pytorch", "tensorflow"]).describe("Sets how workers find each other.");

export const workers = z.int().min(1).max(100).describe("Number of workers.");

export const gpuPerWorker = z.int().min(0).max(8).default(0).describe("GPUs per worker.");

export const gpuType = z
  .string()
  .min(1)
  .optional()
  .describe("Only nodes with GPUs of this type: H100 also matches NVIDIA-H100-80GB-HBM3. Default: any GPU.");

export const image = z.string().min(1).describe("Image of the workers.");

export const command = z.array(z.string()).min(1).describe("Command of the workers.");

export const args = z.array(z.string()).optional().describe("Arguments of the command.");

export const env = z
  .array(
    z.object({
      name: z.string().min(1),
      value: z.string().optional(),
      valueFrom: opaqueObject<EnvVarSource>().optional(),
    }),
  )
  .check(listMap("name"))
  .optional()
  .describe("Further environment variables of every worker. They cannot override those that the operator sets.");

export const resources = z
  .object({ requests: amounts().optional(), limits: amounts().optional() })
  .optional()
  .describe("CPU, memory and other resources of each worker. GPUs are set by gpuPerWorker.");

export const dataVolume = z
  .object({
    claimName: z.string().min(1).describe("The claim with the training data."),
    readOnly: z.boolean().default(false),
    mountPath: path().default("/data"),
  })
  .optional();

export const checkpointDir = path().optional().describe("The path of checkpoints. Workers find it in CHECKPOINT_DIR.");

export const checkpointVolume = z
  .object({
    claimName: z.string().min(1).optional().describe("An existing claim. Default: one is created for the job."),
    size: quantity().optional().describe("The size of the claim that is created."),
    storageClassName: z.string().min(1).optional(),
    accessMode: z
      .enum(["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"])
      .optional()
      .describe("Default: ReadWriteMany if several workers share it, otherwise ReadWriteOnce."),
    onDelete: z
      .enum(["Retain", "Delete"])
      .default("Retain")
      .describe("What happens to the created claim when the job is deleted."),
  })
  .optional()
  .describe("Keeps checkpointDir beyond the workers' pods. Without it, checkpoints are lost when workers restart.");

export const hyperparameters = opaqueObject<Record<string, unknown>>()
  .optional()
  .describe("Names and values of any type.");

export const hyperparametersFrom = z
  .object({ configMapName: z.string().min(1) })
  .optional()
  .describe("A ConfigMap with more hyperparameters. If both have one, hyperparameters takes precedence.");

export const passHyperparameters = z
  .array(z.enum(["env", "file", "args"]))
  .default(["env", "file"])
  .describe(
    "How workers get hyperparameters: as environment variables (HP_LEARNING_RATE), as files in /etc/training/hyperparameters, as " +
      "arguments (--learning-rate=0.1).",
  );

export const parameterServers = z
  .object({
    count: z.int().min(1).max(20).default(1),
    resources,
  })
  .optional()
  .describe("Processes that hold the parameters, for TensorFlow's ParameterServerStrategy.");

export const elastic = z
  .object({
    minWorkers: z.int().min(1).max(100),
    maxWorkers: z.int().min(1).max(100),
    maxRestarts: z
      .int()
      .min(0)
      .optional()
      .describe(
        "How often torchrun restarts the processes of a pod, whose peers were lost, before the pod fails. Default: backoffLimit.",
      ),
  })
  .optional()
  .describe("The job can run with any number of workers within these bounds; workers is the desired number.");

export const restartPolicy = z
  .enum(["OnFailure", "ExitCode", "Never"])
  .default("OnFailure")
  .describe(
    "Which failures of a worker restart the job: all; only exit codes of 128 and more (signals), and lost nodes; none.",
  );

export const backoffLimit = z.int().min(0).max(100).default(3).describe("Number of restarts before the job fails.");

export const activeDeadlineSeconds = seconds().min(1).optional().describe("Maximum duration of the training.");

export const startDeadlineSeconds = seconds().min(1).optional().describe("Maximum time until all workers run.");

export const ttlSecondsAfterFinished = seconds().optional().describe("The job is deleted this long after it finishes.");

export const cleanPodPolicy = z
  .enum(["Running", "All", "None"])
  .default("Running")
  .describe("Which pods are deleted when the job ends. Those that ended by themselves keep their logs.");

export const successPolicy = z
  .enum(["AllWorkers", "Chief"])
  .default("AllWorkers")
  .describe("The job succeeds when all workers have, or when worker 0 has.");

export const suspend = z.boolean().default(false).describe("No workers run while this is true.");

export const scheduling = z
  .object({
    gang: z.boolean().default(true).describe("Schedules all workers or none. Needs a gang scheduler."),
    queue: z.string().min(1).optional().describe("The queue of a scheduler that has queues."),
    schedulerName: z.string().min(1).optional(),
    priorityClassName: z.string().min(1).optional(),
  })
  .optional();

export const nodeSelector = z.record(z.string(), z.string()).optional();

export const tolerations = z.array(opaqueObject<Toleration>()).optional();

export const serviceAccountName = z.string().min(1).optional();

export const imagePullSecrets = z
  .array(z.object({ name: z.string().min(1) }))
  .check(listMap("name"))
  .optional();

export const template = podTemplateField();

export const podMetadata = z
  .object({
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  })
  .optional()
  .describe("Labels and annotations that all pods get.");
