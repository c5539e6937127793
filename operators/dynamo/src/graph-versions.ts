import { ageColumn, atomic, cel, conditionColumn, listMap, z } from "konverge";
import type { DeepReadonly } from "konverge/objects";
import { components } from "./component-spec.ts";
import { ENGINES } from "./engine.ts";
import { claims, services, variables } from "./service-spec.ts";

/** What all versions have alike. */
const shared = {
  annotations: z.record(z.string(), z.string()).optional().describe("For the objects and pods of all services."),
  labels: z.record(z.string(), z.string()).optional().describe("For the objects and pods of all services."),
  priorityClassName: z.string().min(1).optional().describe("The priority of pods that name none."),
  backendFramework: z.enum(ENGINES).optional().describe("What the workers run. Default: as their commands say."),
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
  pvcs: claims.optional().describe("The claims that services mount."),
};

/** The services of a graph by name, as v1alpha1 and v1 have them. */
const listed = {
  services: services.optional().describe("The parts of the graph, by name."),
  envs: variables().optional().describe("For all services; those of a service take precedence."),
};

/** What a graph's model requires, in the words of v1alpha1 and v1beta1. */
const sized = {
  sla: z
    .object({
      maxLatencyMs: z.int().min(1).optional().describe("95% of requests are to be answered within this time."),
      minThroughput: z.number().min(0).optional().describe("Requests per second that must be possible at any time."),
      maxReplicas: z
        .int()
        .min(1)
        .max(1000)
        .optional()
        .describe("Upper bound, whatever is measured. Default: four times what minThroughput requires, at least 10."),
    })
    .optional(),
  model: z
    .object({
      name: z.string().min(1),
      serviceTimeMs: z.number().min(0).default(50).describe("How long one request takes on an idle replica."),
      concurrency: z.int().min(1).default(8).describe("Requests that one replica processes concurrently."),
      placement: z
        .object({ tensorParallelSize: z.int().min(1).max(64).default(1), gpuType: z.string().optional() })
        .optional(),
    })
    .optional(),
};

const reported = {
  replicas: z.int(),
  readyReplicas: z.int(),
  updatedReplicas: z.int().optional(),
  ready: z.boolean(),
  message: z.string().optional(),
  componentKind: z.enum(["Deployment", "LeaderWorkerSet"]).optional(),
};

const status = {
  state: z.enum(["initializing", "pending", "successful", "failed"]).optional(),
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
};

const reports = {
  services: z.record(z.string(), z.object({ componentName: z.string(), ...reported })),
  components: z.record(z.string(), z.object({ componentNames: z.array(z.string()), ...reported })),
};
/** What a graph's status reports about each of its parts. */
export type Reports<Part extends keyof typeof reports> = DeepReadonly<z.infer<(typeof reports)[Part]>>;

const serviceStatus = z.object({ ...status, services: reports.services.optional() });

const somethingToServe = (parts: string) =>
  cel(
    `has(self.spec.${parts}) || has(self.spec.model)`,
    `set spec.${parts} to the parts of the graph, or spec.model to the model that it serves`,
  );

const columns = {
  State: ".status.state",
  Ready: conditionColumn("Ready"),
  Reason: '.status.conditions[?(@.type=="Ready")].reason',
  Age: ageColumn,
};

export const v1alpha1 = {
  spec: z.object({ ...listed, ...shared, ...sized }),
  status: serviceStatus,
  columns,
  objectRules: [somethingToServe("services")],
};

export const v1beta1 = {
  spec: z.object({
    components: components
      .check(
        listMap("name"),
        cel(
          "self.filter(c, has(c.type) && c.type == 'epp').size() <= 1",
          "a graph has one endpoint picker at most: give only one component the type epp",
        ),
      )
      .optional()
      .describe("The parts of the graph."),
    env: variables().optional().describe("For all components; those of a component take precedence."),
    ...shared,
    ...sized,
  }),
  status: z.object({ ...status, components: reports.components.optional() }),
  columns,
  objectRules: [somethingToServe("components")],
};

export const v1 = {
  spec: z.object({
    ...listed,
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
        concurrency: sized.model.unwrap().shape.concurrency,
        placement: z
          .object({ tensor_parallel_size: z.int().min(1).max(64).default(1), gpu_type: z.string().optional() })
          .optional(),
      })
      .optional(),
  }),
  status: serviceStatus,
  columns,
  objectRules: [somethingToServe("services")],
};
