import { ageColumn, defineKind, intOrString, listMap, type ObjectOf, opaqueObject, z } from "konverge";
import type { Container, EnvVar, MetricSpec, PodSpec, ResourceRequirements } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";

/** How deep graphs may nest: a CRD cannot say "and so on". */
const DEEPEST_GRAPH = 6;

const texts = () => z.record(z.string(), z.string());

const parameter = z.object({
  name: z.string().min(1),
  value: z.string(),
  type: z.enum(["INT", "FLOAT", "DOUBLE", "STRING", "BOOL"]).default("STRING"),
});

const unitFields = {
  name: z.string().min(1).describe("Also the name of its container."),
  type: z.enum(["UNKNOWN_TYPE", "ROUTER", "COMBINER", "MODEL", "TRANSFORMER", "OUTPUT_TRANSFORMER"]).optional(),
  implementation: z
    .string()
    .optional()
    .describe("A prepackaged server (SKLEARN_SERVER …) or a built-in of the orchestrator."),
  methods: z.array(z.enum(["TRANSFORM_INPUT", "TRANSFORM_OUTPUT", "ROUTE", "AGGREGATE", "SEND_FEEDBACK"])).optional(),
  endpoint: z
    .object({
      type: z.enum(["REST", "GRPC"]).optional(),
      service_host: z.string().optional(),
      service_port: z.int().optional(),
      httpPort: z.int().optional(),
      grpcPort: z.int().optional(),
    })
    .optional(),
  parameters: z.array(parameter).optional(),
  modelUri: z.string().optional().describe("Location of the model: gs://, s3://, https://, pvc://claim/path …"),
  serviceAccountName: z.string().optional(),
  envSecretRefName: z.string().optional().describe("A Secret with environment variables that give access to modelUri."),
  storageInitializerImage: z.string().optional(),
  logger: z.object({ url: z.string().optional(), mode: z.enum(["all", "request", "response"]) }).optional(),
  resources: opaqueObject<ResourceRequirements>().optional().describe("Of the unit's container."),
};

/** A step of a graph: it works itself, and hands on to its children. */
export interface Unit extends DeepReadonly<z.infer<z.ZodObject<typeof unitFields>>> {
  readonly children?: readonly Unit[] | undefined;
}

function unit(depth: number): z.ZodType<Unit, Unit> {
  const shape = depth > 1 ? { ...unitFields, children: z.array(unit(depth - 1)).optional() } : unitFields;
  return z.object(shape) as unknown as z.ZodType<Unit, Unit>;
}

/** Pod templates as users write them: containers may say no more than a name and a few fields. */
export type ComponentPod = Partial<PodSpec>;

const componentSpec = z.object({
  metadata: z
    .object({ name: z.string().optional(), labels: texts().optional(), annotations: texts().optional() })
    .optional(),
  spec: opaqueObject<ComponentPod>().optional(),
  replicas: z.int().min(0).optional(),
  hpaSpec: z
    .object({
      minReplicas: z.int().min(0).optional(),
      maxReplicas: z.int().min(1),
      metricsv2: z.array(opaqueObject<MetricSpec>()).optional(),
      metrics: z.array(opaqueObject<MetricSpec>()).optional(),
    })
    .optional(),
  pdbSpec: z.object({ minAvailable: intOrString().optional(), maxUnavailable: intOrString().optional() }).optional(),
});

const explainer = z.object({
  type: z.string().min(1).describe("AnchorTabular, AnchorImages, AnchorText, KernelShap, IntegratedGradients …"),
  modelUri: z.string().optional().describe("Location of the trained explainer."),
  serviceAccountName: z.string().optional(),
  envSecretRefName: z.string().optional(),
  storageInitializerImage: z.string().optional(),
  replicas: z.int().min(0).optional(),
  config: texts().optional().describe("Arguments of the explainer: `--key=value`."),
  initParameters: opaqueObject<Record<string, unknown>>()
    .optional()
    .describe("Of MLServer's runtime for explainers (v2)."),
  endpoint: z
    .object({ type: z.enum(["REST", "GRPC"]).optional(), service_port: z.int().min(1).max(65535).optional() })
    .optional(),
  containerSpec: opaqueObject<Partial<Container>>().optional().describe("A custom container, or overrides for it."),
});
export type Explainer = DeepReadonly<z.infer<typeof explainer>>;

const predictor = z.object({
  name: z.string().min(1).max(63),
  graph: unit(DEEPEST_GRAPH),
  componentSpecs: z.array(componentSpec).optional(),
  explainer: explainer.optional().describe("Runs an explainer of the predictor's responses."),
  replicas: z.int().min(0).optional(),
  annotations: texts().optional(),
  labels: texts().optional(),
  svcOrchSpec: z
    .object({
      resources: opaqueObject<ResourceRequirements>().optional(),
      env: z.array(opaqueObject<EnvVar>()).optional(),
      replicas: z.int().min(0).optional(),
    })
    .optional(),
  engineResources: opaqueObject<ResourceRequirements>().optional(),
  traffic: z.int().min(0).max(100).optional(),
  shadow: z.boolean().optional(),
  progressDeadlineSeconds: z.int().min(1).optional(),
});
export type Predictor = DeepReadonly<z.infer<typeof predictor>>;
export type ComponentSpec = DeepReadonly<z.infer<typeof componentSpec>>;

const deploymentStatus = z.object({
  replicas: z.int().optional(),
  availableReplicas: z.int().optional(),
  explainerFor: z.string().optional(),
});
const serviceStatus = z.object({
  svcName: z.string().optional(),
  httpEndpoint: z.string().optional(),
  grpcEndpoint: z.string().optional(),
  explainerFor: z.string().optional(),
});

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: z.int().optional(),
});

/** Served models: predictors, each a graph of models, transformers and routers behind one address. */
export const SeldonDeployment = defineKind({
  group: "machinelearning.seldon.io",
  kind: "SeldonDeployment",
  shortNames: ["sdep"],
  categories: ["all"],
  versions: {
    v1: {
      spec: z.object({
        name: z.string().optional(),
        predictors: z.array(predictor).min(1).max(32),
        annotations: texts().optional(),
        protocol: z.enum(["seldon", "tensorflow", "kfserving", "v2"]).optional(),
        transport: z.enum(["rest", "grpc"]).optional(),
        serverType: z.enum(["rpc", "kafka"]).optional(),
        replicas: z.int().min(0).optional(),
      }),
      status: z.object({
        state: z.enum(["Available", "Creating", "Failed"]).optional(),
        description: z.string().optional(),
        replicas: z.int().optional(),
        deploymentStatus: z.record(z.string(), deploymentStatus).optional(),
        serviceStatus: z.record(z.string(), serviceStatus).optional(),
        address: z.object({ url: z.string().optional() }).optional(),
        // Upstream's reasons are sentences, which the usual schema of conditions refuses.
        conditions: z.array(condition).check(listMap("type")).optional(),
      }),
      columns: { State: ".status.state", Replicas: ".status.replicas", Age: ageColumn },
      scale: { replicas: ".spec.replicas", statusReplicas: ".status.replicas" },
    },
  },
});
export type SeldonDeployment = ObjectOf<typeof SeldonDeployment>;
