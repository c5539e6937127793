import { opaqueObject, quantity, z } from "konverge";
import type { PodTemplateSpec } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";
import { memoryService, modelReference, serviceFields } from "./service-spec.ts";

/** The container of a podTemplate that the operator completes; all others are the user's sidecars. */
export const MAIN = "main";

const {
  runtimeVersionOverride,
  globalDynamoNamespace,
  dynamoNamespace,
  replicas,
  autoscaling,
  pvc,
  ingress,
  eppConfig,
} = serviceFields;

/** A component of a graph in v1beta1, where the pods' template takes the place of a dozen fields of v1alpha1. */
export const componentFields = {
  type: z
    .enum(["frontend", "worker", "prefill", "decode", "planner", "epp", "default"])
    .optional()
    .describe("Default: read from the component's name: …frontend…, …prefill…, …decode…, …worker…, …planner…"),
  runtimeVersionOverride,
  globalDynamoNamespace,
  podTemplate: opaqueObject<PodTemplateSpec>()
    .optional()
    .describe("Its pods. The container `main` gets the defaults of the component's type; others are sidecars."),
  replicas,
  multinode: z
    .object({ nodeCount: z.int().min(2).max(64).default(2) })
    .optional()
    .describe("Pods per replica, by a LeaderWorkerSet."),
  sharedMemorySize: quantity().optional().describe('Size of the tmpfs at /dev/shm; "0": none. Default: 8Gi.'),
  modelRef: modelReference()
    .optional()
    .describe("The model that it serves: a headless Service finds its pods, and DynamoModels load adapters."),
  eppConfig,
  frontendSidecar: z
    .string()
    .min(1)
    .optional()
    .describe("The container of podTemplate that is a frontend: it gets a frontend's defaults."),
  compilationCache: z
    .object({
      pvcName: z.string().min(1),
      mountPath: z.string().regex(/^\//).optional().describe("Default: that of the engine."),
    })
    .optional()
    .describe("A claim in which the engine keeps what it compiles."),
  experimental: z
    .object({
      gpuMemoryService: z
        .object(memoryService)
        .optional()
        .describe("Keeps weights in a server beside the engine. Needs a driver for device claims of GPUs."),
    })
    .optional(),
  dynamoNamespace,
  autoscaling,
  pvc,
  ingress,
};

const component = z.object({
  name: z
    .string()
    .max(63)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/),
  ...componentFields,
});
export type Component = DeepReadonly<z.infer<typeof component>>;

/** The components of a graph, each with a name of its own. */
export const components = z.array(component).max(25);
