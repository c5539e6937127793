import { ageColumn, atomic, cel, conditionColumn, defineKind, type ObjectOf, z } from "konverge";
import { services, variables } from "./service-spec.ts";

/** What both versions have alike. */
const shared = {
  services: services.optional().describe("The parts of the graph, by name."),
  envs: variables().optional().describe("For all services; those of a service take precedence."),
  restart: z
    .object({
      id: z.string().min(1).max(63).describe("A new value restarts all services."),
      strategy: z
        .object({
          type: z.enum(["Sequential", "Parallel"]).default("Sequential"),
          order: z.array(z.string()).optional().describe("Default: by name."),
        })
        .optional(),
    })
    .optional(),
  build: z
    .object({
      context: z.string().min(1).describe("Location of the sources: git://…, s3://…, or the URL of a tar file."),
      destination: z.string().min(1).describe("The image to push."),
      dockerfile: z.string().default("Dockerfile"),
      pushSecret: z.string().optional().describe("A Secret of type kubernetes.io/dockerconfigjson."),
    })
    .optional()
    .describe("Builds the image of services that set none."),
};

const profile = {
  concurrency: z.int().min(1).default(8).describe("Requests that one replica processes concurrently."),
};

const status = z.object({
  state: z.enum(["pending", "successful", "failed"]).optional(),
  services: z
    .record(
      z.string(),
      z.object({
        componentName: z.string(),
        replicas: z.int(),
        readyReplicas: z.int(),
        ready: z.boolean(),
        message: z.string().optional(),
      }),
    )
    .optional(),
  restart: z
    .object({
      observedID: z.string(),
      phase: z.enum(["Restarting", "Completed"]),
      inProgress: z.array(z.string()).check(atomic()).optional(),
    })
    .optional(),
  sizing: z
    .object({
      replicas: z.int(),
      reason: z.string(),
      measured: z.boolean().optional().describe("Whether it was measured by the workers, not declared."),
    })
    .optional()
    .describe("What the SLA requires, and why."),
  image: z.string().optional().describe("The image that was built."),
});

const somethingToServe = cel(
  "has(self.spec.services) || has(self.spec.model)",
  "set spec.services to the parts of the graph, or spec.model to the model that it serves",
);

const columns = {
  State: ".status.state",
  Ready: conditionColumn("Ready"),
  Reason: '.status.conditions[?(@.type=="Ready")].reason',
  Age: ageColumn,
};

/** A graph of services that serve a model together. */
export const DynamoGraphDeployment = defineKind({
  group: "nvidia.com",
  kind: "DynamoGraphDeployment",
  shortNames: ["dgd"],
  stored: "v1alpha1",
  versions: {
    v1alpha1: {
      spec: z.object({
        ...shared,
        sla: z
          .object({
            maxLatencyMs: z.int().min(1).optional().describe("95% of requests are to be answered within this time."),
            minThroughput: z
              .number()
              .min(0)
              .optional()
              .describe("Requests per second that must be possible at any time."),
            maxReplicas: z
              .int()
              .min(1)
              .max(1000)
              .optional()
              .describe(
                "Upper bound, whatever is measured. Default: four times what minThroughput requires, at least 10.",
              ),
          })
          .optional(),
        model: z
          .object({
            name: z.string().min(1),
            serviceTimeMs: z.number().min(0).default(50).describe("How long one request takes on an idle replica."),
            ...profile,
            placement: z
              .object({ tensorParallelSize: z.int().min(1).max(64).default(1), gpuType: z.string().optional() })
              .optional(),
          })
          .optional(),
      }),
      status,
      columns,
      objectRules: [somethingToServe],
    },
    v1: {
      spec: z.object({
        ...shared,
        sla: z
          .object({
            max_latency_ms: z.int().min(1).optional(),
            min_throughput: z.number().min(0).optional().describe("Requests per second."),
            max_replicas: z.int().min(1).max(1000).optional(),
          })
          .optional(),
        model: z
          .object({
            name: z.string().min(1),
            service_time_ms: z.number().min(0).default(50),
            ...profile,
            placement: z
              .object({ tensor_parallel_size: z.int().min(1).max(64).default(1), gpu_type: z.string().optional() })
              .optional(),
          })
          .optional(),
      }),
      status,
      columns,
      objectRules: [somethingToServe],
    },
  },
  conversion: {
    v1: {
      toStored({ spec: { sla, model, ...same }, status: reported }) {
        return {
          spec: {
            ...same,
            ...(sla && {
              sla: {
                ...(sla.max_latency_ms !== undefined && { maxLatencyMs: sla.max_latency_ms }),
                ...(sla.min_throughput !== undefined && { minThroughput: sla.min_throughput }),
                ...(sla.max_replicas !== undefined && { maxReplicas: sla.max_replicas }),
              },
            }),
            ...(model && {
              model: {
                name: model.name,
                serviceTimeMs: model.service_time_ms,
                concurrency: model.concurrency,
                ...(model.placement && {
                  placement: {
                    tensorParallelSize: model.placement.tensor_parallel_size,
                    ...(model.placement.gpu_type !== undefined && { gpuType: model.placement.gpu_type }),
                  },
                }),
              },
            }),
          },
          ...(reported && { status: reported }),
        };
      },
      fromStored({ spec: { sla, model, ...same }, status: reported }) {
        return {
          spec: {
            ...same,
            ...(sla && {
              sla: {
                ...(sla.maxLatencyMs !== undefined && { max_latency_ms: sla.maxLatencyMs }),
                ...(sla.minThroughput !== undefined && { min_throughput: sla.minThroughput }),
                ...(sla.maxReplicas !== undefined && { max_replicas: sla.maxReplicas }),
              },
            }),
            ...(model && {
              model: {
                name: model.name,
                service_time_ms: model.serviceTimeMs,
                concurrency: model.concurrency,
                ...(model.placement && {
                  placement: {
                    tensor_parallel_size: model.placement.tensorParallelSize,
                    ...(model.placement.gpuType !== undefined && { gpu_type: model.placement.gpuType }),
                  },
                }),
              },
            }),
          },
          ...(reported && { status: reported }),
        };
      },
    },
  },
});
export type DynamoGraphDeployment = ObjectOf<typeof DynamoGraphDeployment>;
