import type { Container, PodSpec, PodTemplateSpec, Volume, VolumeMount } from "konverge/kinds";
import { templateHash, truncatedName } from "konverge/objects";
import { type ClaimSharing, restrictedPodSpec, sameNodeAffinity } from "konverge/pods";
import { accountOf, isDiscoveredByKubernetes } from "./accounts.ts";
import {
  type ContainerContext,
  componentContainer,
  HTTP_PORT,
  PICKER_CONFIG,
  PICKER_PORT,
  SYSTEM_PORT,
} from "./component-container.ts";
import { componentOf } from "./component-conversion.ts";
import type { DynamoComponentDeployment } from "./component-deployment.ts";
import { type Component, MAIN } from "./component-spec.ts";
import { compilationCache, type Engine, engineOf } from "./engine.ts";
import { withMemoryService } from "./gpu-memory-service.ts";
import { type GroupRole, groupContainer } from "./group-container.ts";
import {
  BASE_MODEL,
  BASE_MODEL_HASH,
  CLAIM,
  COMPONENT,
  COMPONENT_CLASS,
  COMPONENT_TYPE,
  type ComponentType,
  GRAPH,
  isWorker,
  NAMESPACE,
  RESTART,
  SELECTOR,
  SERVING,
  SUB_COMPONENT_TYPE,
  typeOf,
} from "./names.ts";

/** The operator's settings for all components. */
export interface Surroundings {
  /** The image of components that name none. */
  readonly image: string;
  /** Given to components if not empty. */
  readonly natsAddress: string;
  readonly etcdAddress: string;
  /** What hosts of Ingresses end in. */
  readonly ingressSuffix: string;
}

/** The user `dynamo` of the images, which name it by name. */
const USER = 1000;
const SHARED_MEMORY = "shared-memory";
const COMPILATION_CACHE = "compilation-cache";
const PICKER_CONFIG_VOLUME = "epp-config";
/** The Dynamo namespace of components that all graphs find. */
const GLOBAL_NAMESPACE = "dynamo";

/** A frontend has this long to answer what it was asked; a worker, which may be at long generations, longer. */
const GRACE_SECONDS = { worker: 300, epp: 130, other: 60 };

/** What a component is called within its graph, and of which type it is. */
export function identityOf({ metadata, spec }: DynamoComponentDeployment) {
  const service = spec.serviceName ?? metadata.name;
  const graph = metadata.labels?.[GRAPH];
  return {
    service,
    graph,
    type: typeOf(service, spec),
    dynamoNamespace: spec.globalDynamoNamespace ? GLOBAL_NAMESPACE : (spec.dynamoNamespace ?? graph ?? metadata.name),
  };
}

/** Where a component is asked, and reports its metrics; undefined if it is not asked by others. */
export function portOf(component: DynamoComponentDeployment): { name: string; port: number } | undefined {
  const { type } = identityOf(component);
  if (type === "frontend") return { name: "http", port: HTTP_PORT };
  if (type === "epp") return { name: "grpc", port: PICKER_PORT };
  return isWorker(type) ? { name: "system", port: SYSTEM_PORT } : undefined;
}

/** The labels of a component's objects. */
export function labelsOf(component: DynamoComponentDeployment): Record<string, string> {
  const { service, graph, type, dynamoNamespace } = identityOf(component);
  return {
    ...component.spec.labels,
    [COMPONENT]: service,
    [COMPONENT_TYPE]: type,
    ...(isWorker(type) && { [COMPONENT_CLASS]: "worker" }),
    ...(component.spec.subComponentType && { [SUB_COMPONENT_TYPE]: component.spec.subComponentType }),
    [NAMESPACE]: dynamoNamespace,
    ...(graph && { [GRAPH]: graph }),
  };
}

/** A label's value for the name of a model. */
export const modelHash = (model: string) => templateHash(model);

/** What Dynamo's runtime selects pods and EndpointSlices by where it has no registry of its own. */
export const discoveryLabels = (around: Surroundings): Record<string, string> =>
  isDiscoveredByKubernetes(around)
    ? { "nvidia.com/dynamo-discovery-backend": "kubernetes", "nvidia.com/dynamo-discovery-enabled": "true" }
    : {};

export function selectorOf({ metadata }: DynamoComponentDeployment): Record<string, string> {
  return { [SELECTOR]: metadata.name };
}

export function podTemplate(
  component: DynamoComponentDeployment,
  around: Surroundings,
  { sharing, role }: { sharing?: ClaimSharing | undefined; role?: GroupRole } = {},
): PodTemplateSpec {
  const { extraPodMetadata, restartId, annotations, modelRef } = component.spec;
  // Components that share the claim have the same label.
  const together = sharing === "one-node" ? { [CLAIM]: truncatedName(claimName(component)) } : undefined;
  return {
    metadata: {
      labels: {
        ...extraPodMetadata?.labels,
        ...labelsOf(component),
        ...selectorOf(component),
        ...together,
        ...(modelRef && { [BASE_MODEL_HASH]: modelHash(modelRef.name) }),
        ...discoveryLabels(around),
        [SERVING]: "true",
      },
      annotations: {
        ...annotations,
        ...extraPodMetadata?.annotations,
        ...(modelRef && { [BASE_MODEL]: modelRef.name }),
        ...(restartId && { [RESTART]: restartId }),
      },
    },
    spec: restrictedPodSpec(podSpec(component, around, { together, role }), { user: USER }),
  };
}

/** How the pods of a template share their claim. */
export function sharingIn(template: PodTemplateSpec | undefined): ClaimSharing | undefined {
  return template?.metadata?.labels?.[CLAIM] ? "one-node" : undefined;
}

function podSpec(
  deployment: DynamoComponentDeployment,
  around: Surroundings,
  { together, role }: { together: Readonly<Record<string, string>> | undefined; role: GroupRole | undefined },
): PodSpec {
  const component = componentOf(identityOf(deployment).service, deployment.spec);
  const { containers = [], volumes = [], ...rest } = (component.podTemplate?.spec ?? {}) as Partial<PodSpec>;
  const own = containers.find(({ name }) => name === MAIN) ?? { name: MAIN };
  const engine = deployment.spec.backendFramework ?? engineOf(own) ?? "vllm";
  const graceSeconds = rest.terminationGracePeriodSeconds ?? graceOf(identityOf(deployment).type);
  const account = accountOf(deployment, around);
  const contextOf = (type: ComponentType) => contextFor(deployment, around, { type, engine, graceSeconds });
  const extra = volumesOf(deployment, component, engine);
  const main = withMounts(componentContainer(contextOf(identityOf(deployment).type), own), extra);
  const { multinode } = deployment.spec;
  const others = containers
    .filter(({ name }) => name !== MAIN)
    .map((one) => (one.name === component.frontendSidecar ? componentContainer(contextOf("frontend"), one) : one));
  return withMemoryService(deployment, {
    terminationGracePeriodSeconds: graceSeconds,
    // As process 1 a worker ignores SIGTERM until it handles it, which takes until its model is loaded.
    shareProcessNamespace: true,
    ...(account && { serviceAccountName: account }),
    ...rest,
    ...(together && { affinity: { ...sameNodeAffinity(together), ...rest.affinity } }),
    containers: [role && multinode ? groupContainer(main, role, multinode.nodeCount) : main, ...others],
    volumes: [...extra.map(({ volume }) => volume), ...volumes],
  });
}

function graceOf(type: ComponentType): number {
  if (isWorker(type)) return GRACE_SECONDS.worker;
  return type === "epp" ? GRACE_SECONDS.epp : GRACE_SECONDS.other;
}

function contextFor(
  deployment: DynamoComponentDeployment,
  around: Surroundings,
  { type, engine, graceSeconds }: { type: ComponentType; engine: Engine; graceSeconds: number },
): ContainerContext {
  const { service, graph, dynamoNamespace } = identityOf(deployment);
  return {
    type,
    component: service,
    graph,
    namespace: deployment.metadata.namespace ?? "",
    dynamoNamespace,
    image: deployment.spec.image ?? around.image,
    version: deployment.spec.runtimeVersionOverride,
    engine,
    graceSeconds,
    natsAddress: around.natsAddress,
    etcdAddress: around.etcdAddress,
  };
}

/** A volume that the operator adds, and where the main container has it. */
interface MountedVolume {
  readonly volume: Volume;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  /** A variable that names the path. */
  readonly variable?: string | undefined;
}

function volumesOf(
  deployment: DynamoComponentDeployment,
  { sharedMemorySize = "8Gi", pvc, compilationCache: cache, eppConfig }: Component,
  engine: Engine,
): MountedVolume[] {
  const volumes: MountedVolume[] = [];
  const hasSharedMemory = !/^0+[A-Za-z]*$/.test(String(sharedMemorySize));
  if (hasSharedMemory) {
    const emptyDir = { medium: "Memory", sizeLimit: String(sharedMemorySize) };
    volumes.push({ volume: { name: SHARED_MEMORY, emptyDir }, mountPath: "/dev/shm" });
  }
  if (pvc) {
    const name = claimName(deployment);
    volumes.push({
      volume: { name, persistentVolumeClaim: { claimName: name } },
      mountPath: pvc.mountPoint ?? pvc.mountPath ?? "/data",
    });
  }
  const { path, variable } = compilationCache(engine, cache?.mountPath);
  if (cache && path) {
    const volume = { name: COMPILATION_CACHE, persistentVolumeClaim: { claimName: cache.pvcName } };
    volumes.push({ volume, mountPath: path, variable });
  }
  if (eppConfig) volumes.push(pickerConfigVolume(deployment, eppConfig));
  return volumes;
}

/** The ConfigMap that an endpoint picker's configuration is written to. */
export const pickerConfigName = ({ metadata }: DynamoComponentDeployment) => truncatedName(metadata.name, "config");

function pickerConfigVolume(
  deployment: DynamoComponentDeployment,
  { configMapRef }: NonNullable<Component["eppConfig"]>,
): MountedVolume {
  const name = configMapRef?.name ?? pickerConfigName(deployment);
  const items = [{ key: configMapRef?.key ?? PICKER_CONFIG.file, path: PICKER_CONFIG.file }];
  return {
    volume: { name: PICKER_CONFIG_VOLUME, configMap: { name, items } },
    mountPath: PICKER_CONFIG.folder,
    readOnly: true,
  };
}

/** The container with the operator's volumes, except where it mounts another volume at the same path. */
function withMounts(container: Container, volumes: readonly MountedVolume[]): Container {
  const { volumeMounts = [], env = [] } = container;
  const free = volumes.filter(({ mountPath }) => !volumeMounts.some((mount) => mount.mountPath === mountPath));
  const mounts = free.map(({ volume: { name }, mountPath, readOnly }): VolumeMount => {
    return { name, mountPath, ...(readOnly && { readOnly }) };
  });
  const variables = free.flatMap(({ variable, mountPath }) =>
    variable && !env.some(({ name }) => name === variable) ? [{ name: variable, value: mountPath }] : [],
  );
  return { ...container, env: [...env, ...variables], volumeMounts: [...mounts, ...volumeMounts] };
}

export function claimName({ metadata, spec }: DynamoComponentDeployment): string {
  return spec.pvc?.name ?? metadata.name;
}
