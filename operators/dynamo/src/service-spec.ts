import { listMap, opaqueObject, quantity, z } from "konverge";
import type {
  ConfigMapKeySelector,
  Container,
  EnvVar,
  HorizontalPodAutoscalerBehavior,
  MetricSpec,
  PodSpec,
  Probe,
} from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";

const texts = () => z.record(z.string(), z.string());

const amounts = z.object({
  cpu: quantity().optional(),
  memory: quantity().optional(),
  gpu: z
    .string()
    .regex(/^[0-9]+$/)
    .optional()
    .describe("Number of GPUs; becomes nvidia.com/gpu, or what gpuType names."),
  gpuType: z.string().min(1).optional().describe("The resource that counts the GPUs. Default: nvidia.com/gpu."),
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

/** How containers of a pod share the memory of its GPUs. */
export const memoryService = {
  mode: z
    .enum(["IntraPod", "intraPod"])
    .optional()
    .describe("The server runs in each pod. Pods that share GPUs need Grove, which is not used."),
  deviceClassName: z.string().min(1).default("gpu.nvidia.com").describe("The DeviceClass of the GPUs."),
  extraClientContainers: z
    .array(z.string().min(1))
    .optional()
    .describe("Containers of the pod, besides the main one, that use the GPUs."),
};

const accessMode = () => z.enum(["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]);

/** A model that a component serves. */
export const modelReference = () =>
  z.object({
    name: z.string().min(1).describe("The base model, as a DynamoModel names it."),
    revision: z.string().optional(),
  });

/** What a service says about how it runs; a DynamoComponentDeployment says the same about its only one. */
export const serviceFields = {
  componentType: z
    .enum(["frontend", "worker", "prefill", "decode", "planner", "epp", "main", "default"])
    .optional()
    .describe("Default: read from the service's name: …frontend…, …prefill…, …decode…, …worker…, …planner…"),
  subComponentType: z
    .string()
    .max(63)
    .regex(/^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$/)
    .optional()
    .describe("The part that a worker has in disaggregated serving: prefill or decode."),
  dynamoNamespace: z
    .string()
    .min(1)
    .optional()
    .describe("Services find each other within one. Default: the graph's name."),
  globalDynamoNamespace: z
    .boolean()
    .optional()
    .describe("Whether the service is found by all graphs: in the Dynamo namespace `dynamo`."),
  runtimeVersionOverride: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$/)
    .optional()
    .describe("The version of Dynamo in the image, if its tag is not that version."),
  replicas: z.int().min(0).max(1000).optional().describe("Default: 1. Ignored while autoscaling is enabled."),
  annotations: texts().optional(),
  labels: texts().optional(),
  envs: variables().optional(),
  envFromSecret: z.string().min(1).optional().describe("A Secret whose keys become environment variables."),
  resources: z
    .object({
      requests: amounts.optional(),
      limits: amounts.optional(),
      claims: z
        .array(z.object({ name: z.string().min(1), request: z.string().optional() }))
        .check(listMap("name"))
        .optional()
        .describe("Entries of extraPodSpec.resourceClaims that the main container uses."),
    })
    .optional(),
  volumeMounts: z
    .array(
      z.object({
        name: z.string().min(1).describe("A PersistentVolumeClaim: one of the graph's pvcs, or another."),
        mountPoint: z.string().regex(/^\//).optional().describe("Required, unless it is a compilation cache."),
        useAsCompilationCache: z
          .boolean()
          .optional()
          .describe("Whether the engine keeps what it compiles there. Default path: that of the engine."),
      }),
    )
    .optional(),
  modelRef: modelReference()
    .optional()
    .describe("The model that the service serves: a headless Service finds its pods, and DynamoModels load adapters."),
  gpuMemoryService: z
    .object({ enabled: z.boolean().default(false), ...memoryService })
    .optional()
    .describe("Keeps weights in a server beside the engine. Needs a driver for device claims of GPUs."),
  eppConfig: z
    .object({
      configMapRef: opaqueObject<ConfigMapKeySelector>().optional().describe("A ConfigMap and its key."),
      config: opaqueObject().optional().describe("An EndpointPickerConfig."),
    })
    .optional()
    .describe("What an endpoint picker (componentType epp) is configured with."),
  frontendSidecar: z
    .object({
      image: z.string().min(1).optional(),
      args: z.array(z.string()).optional(),
      envFromSecret: z.string().min(1).optional(),
      envs: variables().optional(),
      container: z
        .string()
        .min(1)
        .optional()
        .describe("Instead: a container of extraPodSpec.containers, which gets the frontend's defaults."),
    })
    .optional()
    .describe("A frontend in each pod of the service, as an endpoint picker needs it."),
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
      volumeAccessMode: accessMode()
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

/** The claims of a graph, which its services mount by name. */
export const claims = z
  .array(
    z.object({
      name: z.string().min(1),
      create: z.boolean().default(false).describe("Whether the claim is made with the graph, and goes with it."),
      storageClass: z.string().optional(),
      size: quantity().optional().describe("Required to create it."),
      volumeAccessMode: accessMode().optional().describe("Default: ReadWriteMany."),
    }),
  )
  .check(listMap("name"));
