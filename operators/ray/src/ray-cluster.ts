import { ageColumn, defineKind, listMap, type ObjectOf, opaqueObject, quantity, wideColumn, z } from "konverge";
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  NetworkPolicyEgressRule,
  NetworkPolicyIngressRule,
  PodTemplateSpec,
  ResourceRequirements,
  SecurityContext,
  Service,
  VolumeMount,
} from "konverge/kinds";
import { rayKind } from "./ray-kind.ts";

const MOST_REPLICAS = 2_147_483_647;
const parameters = () => z.record(z.string(), z.string()).default({});
const template = () => opaqueObject<PodTemplateSpec>().describe("Its first container runs Ray.");

const credential = () =>
  z.object({ value: z.string().optional(), valueFrom: opaqueObject<EnvVarSource>().optional() }).optional();

/** The manager of objects that another cluster runs. */
export const MULTIKUEUE = "kueue.x-k8s.io/multikueue";
export const managedBy = () =>
  z
    .enum(["ray.io/kuberay-operator", MULTIKUEUE])
    .optional()
    .describe("With MultiKueue, this operator ignores the object.");

const groupResources = () =>
  z
    .record(z.string(), z.string())
    .optional()
    .describe("What Ray counts on its nodes (CPU, memory, GPU, own ones), in place of the container's limits.");
const groupLabels = () =>
  z.record(z.string(), z.string()).optional().describe("Labels of Ray's nodes, and of their pods.");

const networkRules = {
  ingressRules: z.array(opaqueObject<NetworkPolicyIngressRule>()).optional(),
  egressRules: z.array(opaqueObject<NetworkPolicyEgressRule>()).optional(),
};

/** Of a cluster, and of the cluster that a job runs on. */
export const rayClusterSpec = z.object({
  rayVersion: z.string().optional(),
  suspend: z.boolean().optional().describe("Stops all pods and keeps the object."),
  managedBy: managedBy(),
  upgradeStrategy: z
    .object({ type: z.enum(["Recreate", "None"]).optional() })
    .optional()
    .describe(
      "What happens to pods of an older template: all are replaced at once, or none is. Default: one at a time, the head last.",
    ),
  authOptions: z
    .object({
      mode: z.enum(["disabled", "token"]).optional().describe("Default: token."),
      secretName: z
        .string()
        .optional()
        .describe(
          "The Secret with the token under the key auth_token. Default: one that is made, with the cluster's name.",
        ),
      enableK8sTokenAuth: z
        .boolean()
        .optional()
        .describe("Ray asks the API server about tokens: each user has another one. Needs Ray 2.55."),
    })
    .optional()
    .describe("Ray refuses requests without a token. Needs Ray 2.52 or newer."),
  networkPolicy: z
    .object({
      mode: z
        .enum(["DenyAll", "DenyAllIngress", "DenyAllEgress"])
        .optional()
        .describe("What is denied to pods of the cluster, except among each other. Default: DenyAll."),
      head: z.object(networkRules).optional().describe("What the head may do beyond that."),
      worker: z.object(networkRules).optional().describe("What workers may do beyond that."),
      workerGroups: z
        .array(z.object({ groupName: z.string(), ...networkRules }))
        .check(listMap("groupName"))
        .optional()
        .describe("Rules of single groups, in place of those of all workers."),
    })
    .optional()
    .describe("A NetworkPolicy for the head, and one for each group. DNS has to be allowed by a rule."),
  headServiceAnnotations: z.record(z.string(), z.string()).optional().describe("Annotations of the head's Service."),
  enableInTreeAutoscaling: z
    .boolean()
    .optional()
    .describe("Ray's own autoscaler runs beside the head, and sets the groups' replicas within their bounds."),
  autoscalerOptions: z
    .object({
      version: z.enum(["v1", "v2"]).optional(),
      idleTimeoutSeconds: z.int().min(0).optional().describe("How long a worker is idle before it is removed."),
      upscalingMode: z.enum(["Default", "Aggressive", "Conservative"]).optional(),
      image: z.string().optional().describe("Default: the head's."),
      imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
      resources: opaqueObject<ResourceRequirements>().optional(),
      securityContext: opaqueObject<SecurityContext>().optional(),
      env: z.array(opaqueObject<EnvVar>()).optional(),
      envFrom: z.array(opaqueObject<EnvFromSource>()).optional(),
      volumeMounts: z.array(opaqueObject<VolumeMount>()).optional(),
      command: z.array(z.string()).optional(),
      args: z
        .array(z.string())
        .optional()
        .describe("The usual ones are in the variable KUBERAY_GEN_AUTOSCALER_START_CMD."),
    })
    .optional(),
  gcsFaultToleranceOptions: z
    .object({
      backend: z.enum(["redis"]).optional(),
      redisAddress: z.string().optional().describe("Where Redis answers: redis:6379, or a redis:// or rediss:// URL."),
      redisUsername: credential().describe("Needs Ray 2.41 or newer."),
      redisPassword: credential(),
      externalStorageNamespace: z
        .string()
        .optional()
        .describe("The prefix of the cluster's keys in Redis. Default: the UID of the RayCluster."),
    })
    .optional()
    .describe("The head stores its state in Redis, so that workers, actors and tasks outlive it."),
  headGroupSpec: z.object({
    rayStartParams: parameters(),
    resources: groupResources(),
    labels: groupLabels(),
    headService: opaqueObject<Partial<Service>>()
      .optional()
      .describe("Name, labels, annotations, type and more ports of the head's Service. Its selector is ignored."),
    serviceType: z.enum(["ClusterIP", "NodePort", "LoadBalancer"]).optional(),
    template: template(),
  }),
  workerGroupSpecs: z
    .array(
      z.object({
        groupName: z.string().min(1).max(50),
        replicas: z.int().min(0).default(0),
        minReplicas: z.int().min(0).default(0),
        maxReplicas: z.int().min(0).default(MOST_REPLICAS),
        numOfHosts: z.int().min(1).default(1).describe("Pods per replica."),
        suspend: z.boolean().optional(),
        rayStartParams: parameters(),
        resources: groupResources(),
        labels: groupLabels(),
        idleTimeoutSeconds: z
          .int()
          .min(0)
          .optional()
          .describe("How long the second generation of Ray's autoscaler leaves a worker idle."),
        priority: z
          .int()
          .optional()
          .describe("Which group the second generation of Ray's autoscaler prefers. Needs Ray 2.56."),
        scaleStrategy: z.object({ workersToDelete: z.array(z.string()).optional() }).optional(),
        template: template(),
      }),
    )
    .check(listMap("groupName"))
    .optional(),
});

/** How a cluster is doing. */
export const rayClusterStatus = z.object({
  state: z.enum(["ready", "failed", "suspended"]).optional(),
  reason: z.string().optional(),
  desiredWorkerReplicas: z.int().optional(),
  availableWorkerReplicas: z.int().optional(),
  readyWorkerReplicas: z.int().optional(),
  minWorkerReplicas: z.int().optional(),
  maxWorkerReplicas: z.int().optional(),
  desiredCPU: quantity().optional(),
  desiredMemory: quantity().optional(),
  desiredGPU: quantity().optional(),
  head: z
    .object({
      podName: z.string().optional(),
      podIP: z.string().optional(),
      serviceName: z.string().optional(),
      serviceIP: z.string().optional(),
    })
    .optional(),
  endpoints: z.record(z.string(), z.string()).optional(),
});

const columns = {
  "Desired Workers": ".status.desiredWorkerReplicas",
  "Available Workers": ".status.availableWorkerReplicas",
  CPUs: { jsonPath: ".status.desiredCPU", type: "string" as const },
  Memory: { jsonPath: ".status.desiredMemory", type: "string" as const },
  GPUs: { jsonPath: ".status.desiredGPU", type: "string" as const },
  Status: ".status.state",
  Age: ageColumn,
  "Head Pod IP": wideColumn(".status.head.podIP"),
  "Head Service IP": wideColumn(".status.head.serviceIP"),
};

/** A Ray cluster: a head, and groups of workers that join it. */
export const RayCluster = defineKind(
  rayKind("RayCluster", { spec: rayClusterSpec, status: rayClusterStatus, columns }),
);
export type RayCluster = ObjectOf<typeof RayCluster>;
export type WorkerGroup = NonNullable<RayCluster["spec"]["workerGroupSpecs"]>[number];
