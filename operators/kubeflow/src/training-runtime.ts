import { atomic, cel, defineKind, listMap, listSet, type ObjectOf, opaqueObject, z } from "konverge";
import type { JobTemplateSpec, PersistentVolumeClaimSpec } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";

export const TRAINER_GROUP = "trainer.kubeflow.org";

const metadata = z.object({
  name: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

const replicatedJob = z.object({
  name: z.string().min(1),
  groupName: z.string().default("default"),
  replicas: z.int32().min(0).default(1),
  template: opaqueObject<JobTemplateSpec>(),
  dependsOn: z
    .array(z.object({ name: z.string(), status: z.enum(["Ready", "Complete"]) }))
    .check(listMap("name"))
    .optional()
    .describe("Jobs that have to be ready, or complete, before this one is created."),
});

const volumeClaimPolicy = z.object({
  templates: z.array(z.object({ metadata, spec: opaqueObject<PersistentVolumeClaimSpec>() })).check(atomic()),
  retentionPolicy: z.object({ whenDeleted: z.enum(["Delete", "Retain"]).default("Delete") }).optional(),
});

/** What the operator does not do is in the schema nevertheless: it is refused, not dropped. */
const unsupported = () => opaqueObject<object>().optional().describe("Not supported.");

const runtimeSpec = () =>
  z.object({
    mlPolicy: z
      .object({
        numNodes: z.int32().optional().describe("Number of pods. Default: 1."),
        torch: z
          .object({
            envInjection: z
              .object({
                targets: z
                  .array(
                    z.object({
                      jobName: z.string().min(1).max(253),
                      containerNames: z
                        .array(z.string().max(63))
                        .min(1)
                        .max(8)
                        .check(
                          listSet(),
                          cel(
                            "!self.exists(c, c == 'node')",
                            "containerNames must not include the main node container because PET_* envs are always injected into it",
                          ),
                        ),
                    }),
                  )
                  .max(16)
                  .check(listMap("jobName"))
                  .optional(),
              })
              .optional()
              .describe("Containers that get the PET_ variables besides node."),
          })
          .optional(),
        jax: z.object({}).optional(),
        xgboost: z.object({}).optional(),
        mpi: z
          .object({
            numProcPerNode: z.int32().default(1).describe("Processes per node. With 1: one for each GPU."),
            mpiImplementation: z.enum(["OpenMPI", ""]).default("OpenMPI"),
            sshAuthMountPath: z
              .string()
              .max(4096)
              .default("/root/.ssh")
              .describe("Where the SSH keys are in the containers."),
            runLauncherAsNode: z.boolean().default(false).describe("Processes run in the launcher, too."),
          })
          .optional()
          .describe("The Job launcher starts processes on the pods of the Job node over SSH."),
        flux: unsupported(),
      })
      .check(
        cel(
          "[has(self.torch), has(self.mpi), has(self.jax), has(self.xgboost),has(self.flux)].filter(x, x).size() <= 1",
          "Only one of the policy can be configured",
        ),
      )
      .optional(),
    podGroupPolicy: z
      .object({
        coscheduling: z.object({ scheduleTimeoutSeconds: z.int32().default(60) }).optional(),
        volcano: z
          .object({
            networkTopology: z
              .object({ mode: z.enum(["hard", "soft"]).default("hard"), highestTierAllowed: z.int().default(1) })
              .optional(),
          })
          .optional(),
      })
      .optional()
      .describe("A PodGroup for each job. The templates of the pods name the scheduler that reads it."),
    template: z.object({
      metadata: metadata.optional(),
      spec: z.object({
        replicatedJobs: z.array(replicatedJob).check(listMap("name")),
        network: z
          .object({
            enableDNSHostnames: z.boolean().optional(),
            subdomain: z.string().optional(),
            publishNotReadyAddresses: z.boolean().optional(),
          })
          .optional(),
        successPolicy: z
          .object({
            operator: z.enum(["All", "Any"]),
            targetReplicatedJobs: z.array(z.string()).check(atomic()).optional(),
          })
          .optional(),
        ttlSecondsAfterFinished: z.int32().min(0).optional(),
        volumeClaimPolicies: z.array(volumeClaimPolicy).max(50).check(atomic()).optional(),
        failurePolicy: unsupported(),
        startupPolicy: unsupported(),
        coordinator: unsupported(),
      }),
    }),
  });
export type RuntimeSpec = DeepReadonly<z.infer<ReturnType<typeof runtimeSpec>>>;
export type ReplicatedJob = RuntimeSpec["template"]["spec"]["replicatedJobs"][number];

const versions = { v1alpha1: { spec: runtimeSpec() } };

/** A runtime for the TrainJobs of its namespace. */
export const TrainingRuntime = defineKind({ group: TRAINER_GROUP, kind: "TrainingRuntime", versions });
export type TrainingRuntime = ObjectOf<typeof TrainingRuntime>;

/** A runtime for the TrainJobs of all namespaces. */
export const ClusterTrainingRuntime = defineKind({
  group: TRAINER_GROUP,
  kind: "ClusterTrainingRuntime",
  scope: "Cluster",
  versions,
});
export type ClusterTrainingRuntime = ObjectOf<typeof ClusterTrainingRuntime>;
