import { listMap, opaqueObject, quantity, z } from "konverge";
import type { Container, EnvVar, HorizontalPodAutoscalerBehavior, MetricSpec, PodSpec, Probe } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";

const texts = () => z.record(z.string(), z.string());

const amounts = z.object({
  cpu: quantity().optional(),
  memory: quantity().optional(),
  gpu: z
    .string()
    .regex(/^[0-9]+$/)
    .optional()
    .describe("Number of GPUs; becomes nvidia.com/gpu."),
  custom: z.record(z.string(), quantity()).optional().describe("Any other resource by its full name."),
});

/** Variables, of which each name occurs once. */
export const variables = () =>
  z
    .array(
      z.object({
        name: z.string().min(1),
        value: z.string().optional(),
        valueFrom: opaqueObject<NonNullable<EnvVar["valueFrom"]>>().optional(),
      }),
    )
    .check(listMap("name"));

/** What a service says about how it runs; a DynamoComponentDeployment says the same about its only one. */
export const serviceFields = {
  componentType: z
    .enum(["frontend", "worker", "planner", "default"])
    .optional()
    .describe("Default: read from the service's name: …frontend…, …worker…, …planner…"),
  dynamoNamespace: z
    .string()
    .min(1)
    .optional()
    .describe("Services find each other within one. Default: the graph's name."),
  replicas: z.int().min(0).max(1000).optional().describe("Default: 1. Ignored while autoscaling is enabled."),
  annotations: texts().optional(),
  labels: texts().optional(),
  envs: variables().optional(),
  envFromSecret: z.string().min(1).optional().describe("A Secret whose keys become environment variables."),
  resources: z.object({ requests: amounts.optional(), limits: amounts.optional() }).optional(),
  autoscaling: z
    .object({
      enabled: z.boolean().default(true),
      minReplicas: z.int().min(1).default(1),
      maxReplicas: z.int().min(1),
      behavior: opaqueObject<HorizontalPodAutoscalerBehavior>().optional(),
      metrics: z.array(opaqueObject<MetricSpec>()).optional().describe("Default: CPU at 80 %."),
    })
    .optional(),
  pvc: z
    .object({
      create: z.boolean().default(true),
      name: z.string().min(1).optional(),
      storageClass: z.string().optional(),
      size: quantity().optional(),
      volumeAccessMode: z
        .enum(["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"])
        .optional()
        .describe(
          "Default: ReadWriteMany for several pods, otherwise ReadWriteOnce. Pods that share a ReadWriteOnce claim run on one node.",
        ),
      mountPoint: z.string().regex(/^\//).optional(),
      mountPath: z.string().regex(/^\//).optional().describe("Another name of mountPoint."),
    })
    .optional(),
  ingress: z
    .object({
      enabled: z.boolean().default(true),
      host: z.string().optional().describe("Default: the graph's name."),
      hostPrefix: z.string().optional(),
      hostSuffix: z.string().optional().describe("Default: the operator's."),
      annotations: texts().optional(),
      labels: texts().optional(),
      tls: z.object({ secretName: z.string().optional() }).optional(),
      ingressControllerClassName: z.string().optional(),
    })
    .optional(),
  sharedMemory: z.object({ disabled: z.boolean().optional(), size: quantity().optional() }).optional(),
  extraPodMetadata: z.object({ annotations: texts().optional(), labels: texts().optional() }).optional(),
  extraPodSpec: opaqueObject<Partial<PodSpec> & { mainContainer?: Partial<Container> }>()
    .optional()
    .describe("Merged over the pod; mainContainer over its container."),
  livenessProbe: opaqueObject<Probe>().optional(),
  readinessProbe: opaqueObject<Probe>().optional(),
  multinode: z
    .object({ nodeCount: z.int().min(2).max(64) })
    .optional()
    .describe("Pods per replica, by a LeaderWorkerSet."),
};

const service = z.object(serviceFields);
export type Service = DeepReadonly<z.infer<typeof service>>;

/** Services by name. Names become parts of names of objects, in lower case. */
export const services = z.record(z.string(), service);
