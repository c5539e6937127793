import { immutable, listMap, opaqueObject, quantity, z } from "konverge";
import type { PodTemplateSpec } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";

const time = () => z.iso.datetime().optional();

/** How pods of a replica type are started again. `ExitCode`: codes from 128 on are tried again, lower ones are final. */
export const RESTART_POLICIES = ["Always", "OnFailure", "Never", "ExitCode"] as const;
export type RestartPolicy = (typeof RESTART_POLICIES)[number];

/** Who looks after a job, unless it says otherwise. */
export const MANAGED_BY = "kubeflow.org/training-operator";

const replicaSpec = z.object({
  replicas: z.int32().min(0).optional().describe("Number of pods of this type. Default: 1."),
  restartPolicy: z.enum(RESTART_POLICIES).optional().describe("Overrides the restart policy of the template."),
  template: opaqueObject<PodTemplateSpec>().optional().describe("One of its containers has the name of the framework."),
});
export type ReplicaSpec = DeepReadonly<z.infer<typeof replicaSpec>>;

/** The replicas of a job by their type. */
export const replicaSpecs = () => z.record(z.string(), replicaSpec);

/** What all jobs have in common: how they end, and what becomes of them then. */
export const runPolicy = (manager: string = MANAGED_BY) =>
  z
    .object({
      cleanPodPolicy: z
        .enum(["None", "Running", "All"])
        .optional()
        .describe("Which pods are deleted when the job ends. Default: None."),
      ttlSecondsAfterFinished: z
        .int32()
        .min(0)
        .optional()
        .describe("The job is deleted this many seconds after it finishes."),
      activeDeadlineSeconds: z.int().min(0).optional().describe("The job fails when it takes longer than this."),
      backoffLimit: z.int32().min(0).optional().describe("The job fails after this many restarts of containers."),
      schedulingPolicy: z
        .object({
          minAvailable: z.int32().min(0).optional(),
          queue: z
            .string()
            .check(immutable({ settable: true }))
            .optional(),
          minResources: z.record(z.string(), quantity()).optional(),
          priorityClass: z.string().optional(),
          scheduleTimeoutSeconds: z.int32().min(0).optional(),
        })
        .optional()
        .describe("How pods are placed together, if the operator has a gang scheduler."),
      suspend: z.boolean().default(false).describe("Deletes all pods until it is false again."),
      managedBy: z
        .enum([manager, "kueue.x-k8s.io/multikueue"])
        .check(immutable())
        .optional()
        .describe("The controller of the job. A job of another controller is ignored."),
    })
    .optional();
export type RunPolicy = DeepReadonly<NonNullable<z.infer<ReturnType<typeof runPolicy>>>>;

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastUpdateTime: time(),
  lastTransitionTime: time(),
  observedGeneration: z.int().optional(),
});
export type JobCondition = DeepReadonly<z.infer<typeof condition>>;

const replicaStatus = z.object({
  active: z.int32().optional(),
  succeeded: z.int32().optional(),
  failed: z.int32().optional(),
  labelSelector: opaqueObject<object>().optional(),
  selector: z.string().optional(),
});
export type ReplicaStatus = DeepReadonly<z.infer<typeof replicaStatus>>;

/** The status of every job. The last condition says how the job is. */
export const jobStatus = () =>
  z.object({
    conditions: z.array(condition).check(listMap("type")).optional(),
    replicaStatuses: z.record(z.string(), replicaStatus).optional(),
    startTime: time(),
    completionTime: time(),
    lastReconcileTime: time(),
    // Upstream's controllers do not report it, nor does this one: declared here, it has no default that would wait for a report.
    observedGeneration: z.int().optional(),
  });
export type JobStatus = DeepReadonly<z.infer<ReturnType<typeof jobStatus>>>;
