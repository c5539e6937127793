import type {
  Container,
  EnvVar,
  Lifecycle,
  PodSpec,
  PodTemplateSpec,
  Probe,
  ResourceRequirements,
} from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { type ClaimSharing, drainHook, restrictedPodSpec, sameNodeAffinity } from "konverge/pods";
import type { DynamoComponentDeployment } from "./component-deployment.ts";
import { type GroupRole, groupContainer } from "./group-container.ts";
import { IN_FLIGHT } from "./in-flight.ts";
import { CLAIM, COMPONENT, COMPONENT_TYPE, GRAPH, NAMESPACE, RESTART, SELECTOR, SERVING, typeOf } from "./names.ts";
import type { Service } from "./service-spec.ts";

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

/** Where components listen. */
export const HTTP_PORT = 8000;
export const SYSTEM_PORT = 9090;
/** The user `dynamo` of the images, which name it by name. */
const USER = 1000;
const SHARED_MEMORY = "shared-memory";
/** A frontend has this long to answer what it was asked; a worker, which may be at long generations, longer. */
const GRACE_SECONDS = { frontend: 60, worker: 300 };
/** How many times a request continues on another worker, as Dynamo's documentation recommends. Its own default is 0. */
const MIGRATION_LIMIT = 3;

/** What a component is called within its graph, and of which type it is. */
export function identityOf({ metadata, spec }: DynamoComponentDeployment) {
  const service = spec.serviceName ?? metadata.name;
  const graph = metadata.labels?.[GRAPH];
  return {
    service,
    graph,
    type: typeOf(service, spec),
    dynamoNamespace: spec.dynamoNamespace ?? graph ?? metadata.name,
  };
}

/** Where a component is asked, and tells its metrics; undefined if it is not asked over HTTP. */
export function portOf(component: DynamoComponentDeployment): { name: string; port: number } | undefined {
  const { type } = identityOf(component);
  if (type === "frontend") return { name: "http", port: HTTP_PORT };
  return type === "worker" ? { name: "system", port: SYSTEM_PORT } : undefined;
}

/** The labels of a component's objects. */
export function labelsOf(component: DynamoComponentDeployment): Record<string, string> {
  const { service, graph, type, dynamoNamespace } = identityOf(component);
  return {
    ...component.spec.labels,
    [COMPONENT]: service,
    [COMPONENT_TYPE]: type,
    [NAMESPACE]: dynamoNamespace,
    ...(graph && { [GRAPH]: graph }),
  };
}

export function selectorOf({ metadata }: DynamoComponentDeployment): Record<string, string> {
  return { [SELECTOR]: metadata.name };
}

export function podTemplate(
  component: DynamoComponentDeployment,
  around: Surroundings,
  { sharing, role }: { sharing?: ClaimSharing | undefined; role?: GroupRole } = {},
): PodTemplateSpec {
  const { extraPodMetadata, restartId, annotations } = component.spec;
  // Components that share the claim have the same label.
  const together = sharing === "one-node" ? { [CLAIM]: truncatedName(claimName(component)) } : undefined;
  return {
    metadata: {
      labels: {
        ...extraPodMetadata?.labels,
        ...labelsOf(component),
        ...selectorOf(component),
        ...together,
        [SERVING]: "true",
      },
      annotations: { ...annotations, ...extraPodMetadata?.annotations, ...(restartId && { [RESTART]: restartId }) },
    },
    spec: restrictedPodSpec(podSpec(component, around, { together, role }), { user: USER }),
  };
}

/** How the pods of a template share their claim. */
export function sharingIn(template: PodTemplateSpec | undefined): ClaimSharing | undefined {
  return template?.metadata?.labels?.[CLAIM] ? "one-node" : undefined;
}

function podSpec(
  component: DynamoComponentDeployment,
  around: Surroundings,
  { together, role }: { together: Readonly<Record<string, string>> | undefined; role: GroupRole | undefined },
): PodSpec {
  const { extraPodSpec, pvc, sharedMemory } = component.spec;
  const { mainContainer, containers = [], volumes = [], ...rest } = extraPodSpec ?? {};
  const memory = sharedMemory?.disabled ? undefined : String(sharedMemory?.size ?? "8Gi");
  return {
    terminationGracePeriodSeconds: graceOf(component),
    // As process 1 a worker ignores SIGTERM until it handles it, which takes until its model is loaded.
    shareProcessNamespace: true,
    ...rest,
    ...(together && { affinity: { ...sameNodeAffinity(together), ...rest.affinity } }),
    containers: [inGroup(component, mainOf(component, around, mainContainer ?? {}), role), ...containers],
    volumes: [
      ...(memory ? [{ name: SHARED_MEMORY, emptyDir: { medium: "Memory", sizeLimit: memory } }] : []),
      ...(pvc ? [{ name: claimName(component), persistentVolumeClaim: { claimName: claimName(component) } }] : []),
      ...volumes,
    ],
  };
}

function graceOf(component: DynamoComponentDeployment): number {
  const own = component.spec.extraPodSpec?.terminationGracePeriodSeconds;
  return own ?? (identityOf(component).type === "worker" ? GRACE_SECONDS.worker : GRACE_SECONDS.frontend);
}

/**
 * Frontends get requests through a Service, and serve until no more arrive. Workers get requests from frontends that find
 * them in the registry, independent of Kubernetes: only SIGTERM makes their runtime deregister them, so nothing delays it.
 * Requests that they have then, or get until all frontends know, continue on other workers: see {@link migrationArgs}.
 */
function lifecycleOf(component: DynamoComponentDeployment): { lifecycle?: Lifecycle } {
  if (identityOf(component).type !== "frontend") return {};
  return { lifecycle: drainHook({ graceSeconds: graceOf(component), port: HTTP_PORT, series: IN_FLIGHT }) };
}

export function claimName({ metadata, spec }: DynamoComponentDeployment): string {
  return spec.pvc?.name ?? metadata.name;
}

const inGroup = ({ spec }: DynamoComponentDeployment, main: Container, role: GroupRole | undefined): Container =>
  role && spec.multinode ? groupContainer(main, role, spec.multinode.nodeCount) : main;

function mainOf(component: DynamoComponentDeployment, around: Surroundings, extra: Partial<Container>): Container {
  const { spec } = component;
  const { type, service } = identityOf(component);
  const { pvc, sharedMemory, envFromSecret, livenessProbe, readinessProbe } = spec;
  const probes = probesOf(type);
  const image = spec.image ?? around.image;
  const mounts = [
    ...(sharedMemory?.disabled ? [] : [{ name: SHARED_MEMORY, mountPath: "/dev/shm" }]),
    ...(pvc ? [{ name: claimName(component), mountPath: pvc.mountPoint ?? pvc.mountPath ?? "/data" }] : []),
  ];
  return {
    image,
    ...commandOf(type, service, { namesModel: hasModel(component, extra), migration: migrationArgs(image, extra) }),
    ...lifecycleOf(component),
    ...probes,
    ...extra,
    name: "main",
    env: mergedEnvs(component, around, extra.env ?? []),
    ...(envFromSecret && { envFrom: [{ secretRef: { name: envFromSecret } }, ...(extra.envFrom ?? [])] }),
    ports: [...portsOf(type), ...(extra.ports ?? [])],
    ...(resourcesOf(spec) && { resources: resourcesOf(spec)! }),
    ...(livenessProbe && { livenessProbe }),
    ...(readinessProbe && { readinessProbe }),
    volumeMounts: [...mounts, ...(extra.volumeMounts ?? [])],
  };
}

type Type = NonNullable<Service["componentType"]>;

/** Whether the variable MODEL says what a worker serves. */
function hasModel({ spec }: DynamoComponentDeployment, extra: Partial<Container>): boolean {
  return [...(spec.envs ?? []), ...(extra.env ?? [])].some(({ name }) => name === "MODEL");
}

/**
 * Lets frontends continue the requests of a worker that ends on another one. Without it, workers of Dynamo 0.4 leave theirs
 * unanswered, and those of later versions lose requests that arrive while frontends still find them.
 *
 * Caveats: from Dynamo 1.0 on, a variable of the frontends has the limit, and workers refuse the flag. It is therefore left
 * out if the tag of the image is not a version, or the command is the user's.
 */
function migrationArgs(image: string, extra: Partial<Container>): string[] {
  const isEarly = /:v?0\.\d[^/:@]*(@.*)?$/.test(extra.image ?? image);
  return isEarly && !extra.command ? [`--migration-limit=${MIGRATION_LIMIT}`] : [];
}

/** What runs if the service does not say: the image's own command for all but frontends and workers. */
function commandOf(
  type: Type,
  service: string,
  { namesModel, migration }: { namesModel: boolean; migration: readonly string[] },
): Partial<Container> {
  if (type === "frontend")
    return { command: ["python3", "-m", "dynamo.frontend"], args: ["--http-port", String(HTTP_PORT)] };
  if (type !== "worker") return {};
  const prefill = service.toLowerCase().includes("prefill");
  // Requests for prefill are never continued elsewhere: their workers finish them.
  const args = [...(namesModel ? ["--model", "$(MODEL)"] : []), ...(prefill ? ["--is-prefill-worker"] : migration)];
  return { command: ["python3", "-m", "dynamo.vllm"], ...(args.length > 0 && { args }) };
}

function portsOf(type: Type) {
  if (type === "frontend") return [{ name: "http", containerPort: HTTP_PORT }];
  return type === "worker" ? [{ name: "system", containerPort: SYSTEM_PORT }] : [];
}

/** Workers take long to load a model: two hours before a restart. */
function probesOf(type: Type): { livenessProbe?: Probe; readinessProbe?: Probe; startupProbe?: Probe } {
  const at = (path: string, port: string, more: Partial<Probe> = {}): Probe => ({ httpGet: { path, port }, ...more });
  if (type === "frontend") {
    return {
      livenessProbe: at("/live", "http", { initialDelaySeconds: 15, periodSeconds: 10 }),
      readinessProbe: at("/health", "http", { periodSeconds: 5 }),
    };
  }
  if (type !== "worker") return {};
  return {
    startupProbe: at("/live", "system", { periodSeconds: 10, failureThreshold: 720 }),
    livenessProbe: at("/live", "system", { periodSeconds: 5, failureThreshold: 3 }),
    readinessProbe: at("/health", "system", { periodSeconds: 10 }),
  };
}

/** The service's own variables win over the graph's, these over the operator's; in the order of their names. */
function mergedEnvs(component: DynamoComponentDeployment, around: Surroundings, extra: readonly EnvVar[]): EnvVar[] {
  const { metadata, spec } = component;
  const { type, service, graph, dynamoNamespace } = identityOf(component);
  const field = (name: string, fieldPath: string): EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const own: EnvVar[] = [
    { name: "DYN_NAMESPACE", value: dynamoNamespace },
    { name: "DYN_COMPONENT", value: service },
    { name: "DYN_PARENT_DGD_K8S_NAME", value: graph ?? "" },
    { name: "DYN_PARENT_DGD_K8S_NAMESPACE", value: metadata.namespace ?? "" },
    field("POD_NAME", "metadata.name"),
    field("POD_NAMESPACE", "metadata.namespace"),
    field("POD_UID", "metadata.uid"),
    ...(type === "frontend"
      ? [
          { name: "DYNAMO_PORT", value: String(HTTP_PORT) },
          { name: "DYN_HTTP_PORT", value: String(HTTP_PORT) },
          { name: "DYN_MIGRATION_LIMIT", value: String(MIGRATION_LIMIT) },
        ]
      : []),
    ...(type === "worker"
      ? [
          { name: "DYN_SYSTEM_ENABLED", value: "true" },
          { name: "DYN_SYSTEM_PORT", value: String(SYSTEM_PORT) },
          // What the probes report: without it, the runtime always answers 503.
          { name: "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", value: '["generate"]' },
        ]
      : []),
    ...(around.natsAddress ? [{ name: "NATS_SERVER", value: around.natsAddress }] : []),
    ...(around.etcdAddress ? [{ name: "ETCD_ENDPOINTS", value: around.etcdAddress }] : []),
  ];
  const all = new Map([...own, ...(spec.envs ?? []), ...extra].map((env) => [env.name, env]));
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function resourcesOf({ resources }: Service): ResourceRequirements | undefined {
  if (!resources) return undefined;
  const { requests, limits } = resources;
  return { ...(requests && { requests: amounts(requests) }), ...(limits && { limits: amounts(limits) }) };
}

type Amounts = NonNullable<NonNullable<Service["resources"]>["limits"]>;

function amounts({ cpu, memory, gpu, custom }: Amounts): Record<string, string> {
  const all = { cpu, memory, "nvidia.com/gpu": gpu, ...custom };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}
