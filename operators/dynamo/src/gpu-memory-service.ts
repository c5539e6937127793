import type { Container, PodSpec } from "konverge/kinds";
import { ResourceClaimTemplate } from "konverge/kinds";
import { templateHash, truncatedName } from "konverge/objects";
import { componentOf } from "./component-conversion.ts";
import type { DynamoComponentDeployment } from "./component-deployment.ts";
import { MAIN } from "./component-spec.ts";

/** The pod's claim, which all of its containers that use the GPUs share. */
const CLAIM = "intrapod-shared-gpu";
const SERVER = "gms-server";
const SOCKETS = { name: "gms-intrapod-control", mountPath: "/gms-intrapod-control", variable: "GMS_SOCKET_DIR" };

/** Whether the name of a resource is that of GPUs, whole or in parts. */
const isGpu = (name: string) => /(^|\/)gpu$|\/mig-|^gpu\./i.test(name);

/**
 * Lets a server in the pod own the memory of its GPUs, so that an engine that is started again finds its weights there. Several
 * containers use the same GPUs then, which only a device claim allows: it takes the place of the container's GPU resources.
 */
export function withMemoryService(deployment: DynamoComponentDeployment, pod: PodSpec): PodSpec {
  const service = memoryServiceOf(deployment);
  const main = pod.containers.find(({ name }) => name === MAIN);
  if (!service || !main) return pod;
  const clients = new Set([MAIN, ...(service.extraClientContainers ?? [])]);
  const server: Container = {
    ...client({ name: SERVER }),
    ...(main.image !== undefined && { image: main.image }),
    command: ["python3", "-m", "gpu_memory_service.cli.server"],
    restartPolicy: "Always",
  };
  const tolerations = pod.tolerations ?? [];
  const isTolerated = tolerations.some(({ key, effect }) => key === "nvidia.com/gpu" && effect === "NoSchedule");
  return {
    ...pod,
    containers: pod.containers.map((one) => (clients.has(one.name) ? client(one) : one)),
    initContainers: [...(pod.initContainers ?? []), server],
    volumes: [...(pod.volumes ?? []), { name: SOCKETS.name, emptyDir: {} }],
    resourceClaims: [
      ...(pod.resourceClaims ?? []),
      { name: CLAIM, resourceClaimTemplateName: claimTemplateName(deployment, service) },
    ],
    // The plugin that adds this for GPU resources does not know device claims.
    tolerations: isTolerated
      ? tolerations
      : [...tolerations, { key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }],
  };
}

/** A container that shares the GPUs, in place of having its own. */
function client(container: Container): Container {
  const { limits, requests, claims = [] } = container.resources ?? {};
  return {
    ...container,
    env: [...(container.env ?? []), { name: SOCKETS.variable, value: SOCKETS.mountPath }],
    volumeMounts: [...(container.volumeMounts ?? []), { name: SOCKETS.name, mountPath: SOCKETS.mountPath }],
    resources: {
      ...(limits && { limits: withoutGpus(limits) }),
      ...(requests && { requests: withoutGpus(requests) }),
      claims: [...claims, { name: CLAIM }],
    },
  };
}

type Quantities = NonNullable<NonNullable<Container["resources"]>["limits"]>;

const withoutGpus = (quantities: Quantities): Quantities =>
  Object.fromEntries(Object.entries(quantities).filter(([name]) => !isGpu(name)));

const memoryServiceOf = ({ spec }: DynamoComponentDeployment) =>
  spec.gpuMemoryService?.enabled ? spec.gpuMemoryService : undefined;

/** What each pod requests: as many devices as its main container would have GPUs. */
function requestOf({ metadata, spec }: DynamoComponentDeployment, deviceClassName: string) {
  const { podTemplate } = componentOf(metadata.name, spec);
  const { limits, requests } = podTemplate?.spec?.containers.find((one) => one.name === MAIN)?.resources ?? {};
  const [, count = "1"] = Object.entries({ ...requests, ...limits }).find(([resource]) => isGpu(resource)) ?? [];
  return { deviceClassName, allocationMode: "ExactCount", count: Number(count) } as const;
}

/** A template never changes: another request is another object, and pods that name it. */
const claimTemplateName = (deployment: DynamoComponentDeployment, { deviceClassName }: { deviceClassName: string }) =>
  truncatedName(deployment.metadata.name, `gpu-${templateHash(requestOf(deployment, deviceClassName))}`);

/** The template of the pods' claims. */
export function claimTemplateFor(deployment: DynamoComponentDeployment) {
  const service = memoryServiceOf(deployment);
  if (!service) return [];
  const { namespace, labels } = deployment.metadata;
  const exactly = requestOf(deployment, service.deviceClassName);
  return [
    ResourceClaimTemplate.draft({
      metadata: { name: claimTemplateName(deployment, service), namespace, ...(labels && { labels }) },
      spec: { spec: { devices: { requests: [{ name: "gpus", exactly }] } } },
    }),
  ];
}
