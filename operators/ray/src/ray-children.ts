import { type Container, type EnvVar, Pod, type PodSpec, type Probe, Service, type VolumeMount } from "konverge/kinds";
import { dns1035LabelErrors, truncatedName } from "konverge/objects";
import { restrictedPodSpec } from "konverge/pods";
import { faultToleranceVariables, headAnnotations, redisParameters } from "./gcs-fault-tolerance.ts";
import { tokenMounts, tokenVariables, tokenVolumes } from "./ray-auth.ts";
import {
  autoscalerContainer,
  headAccountName,
  isAutoscaled,
  isSecondGeneration,
  LOGS,
  LOGS_MOUNT,
} from "./ray-autoscaler.ts";
import type { RayCluster, WorkerGroup } from "./ray-cluster.ts";
import { isServing } from "./ray-origin.ts";
import { GCS_PORT, labelParameters, resourceParameters, startCommand, startParameters } from "./start-command.ts";

/** Where a head answers, by the names of its ports. */
export const PORTS = { client: 10001, dashboard: 8265, "gcs-server": 6379, metrics: 8080, serve: 8000 } as const;
/** The container that submits a job: beside the head, or in a separate pod. */
export const SUBMITTER = "ray-job-submitter";
const OPEN_FILES = 65_536;
const SHARED_MEMORY = "shared-mem";

/** Labels under which Ray's own tools know the parts of a cluster. */
export const CLUSTER = "ray.io/cluster";
export const GROUP = "ray.io/group";
export const NODE_TYPE = "ray.io/node-type";
/** On pods of a RayService: whether they get requests when they are ready. */
export const SERVE = "ray.io/serve";
export const HEAD_GROUP = "headgroup";

type NodeType = "head" | "worker";

function labelsOf({ metadata }: RayCluster, type: NodeType, group: string): Record<string, string> {
  return {
    "ray.io/is-ray-node": "yes",
    [CLUSTER]: metadata.name,
    [NODE_TYPE]: type,
    [GROUP]: group,
    "ray.io/identifier": truncatedName(`${metadata.name}-${type}`),
    "app.kubernetes.io/name": "kuberay",
    "app.kubernetes.io/created-by": "kuberay-operator",
  };
}

/** A cluster, or a service, whose Service is called like that of a cluster. */
interface NamedObject {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
  readonly spec: object;
}

/** It is part of URLs that are requested: a name that no Service can have is refused on admission, and not used without that. */
export function headServiceName({ metadata, spec }: NamedObject): string {
  const { headGroupSpec } = spec as Partial<RayCluster["spec"]>;
  const given = headGroupSpec?.headService?.metadata?.name;
  return given && dns1035LabelErrors(given).length === 0 ? given : truncatedName(`${metadata.name}-head-svc`);
}

/** The head's address within the cluster. */
function headAddress(cluster: NamedObject): string {
  return `${headServiceName(cluster)}.${cluster.metadata.namespace}.svc.cluster.local`;
}

/** Where a head takes jobs and applications. */
export const dashboardAddress = (cluster: NamedObject) => `${headAddress(cluster)}:${PORTS.dashboard}`;

function headPort({ spec }: RayCluster): string {
  return spec.headGroupSpec.rayStartParams["port"] ?? GCS_PORT;
}

export function headServiceFor(cluster: RayCluster) {
  const selector = headSelector(cluster);
  const { serviceType, headService: given } = cluster.spec.headGroupSpec;
  const type = serviceType ?? given?.spec?.type ?? "ClusterIP";
  const annotations = { ...given?.metadata?.annotations, ...cluster.spec.headServiceAnnotations };
  const named = given?.spec?.ports ?? [];
  const usual = Object.entries(headPorts(cluster))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, port]) => ({ name, port, targetPort: port, protocol: "TCP" as const, appProtocol: "tcp" }))
    .filter(({ name, port }) => !named.some((one) => one.name === name || one.port === port));
  return Service.draft({
    metadata: {
      name: headServiceName(cluster),
      namespace: cluster.metadata.namespace,
      labels: { ...given?.metadata?.labels, ...selector },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      publishNotReadyAddresses: true,
      // Workers find the head's pod itself.
      ...(type === "ClusterIP" && { clusterIP: "None" }),
      ...given?.spec,
      type,
      selector,
      ports: [...named, ...usual],
    },
  });
}

/** The ports of a head by their names: those of its container, and the usual ones to which it gives no other name. */
export function headPorts({ spec }: Pick<RayCluster, "spec">): Record<string, number> {
  const ports = spec.headGroupSpec.template.spec?.containers[0]?.ports ?? [];
  const own = Object.fromEntries(ports.flatMap((one) => (one.name ? [[one.name, one.containerPort]] : [])));
  const numbers = new Set(Object.values(own));
  return { ...Object.fromEntries(Object.entries(PORTS).filter(([, port]) => !numbers.has(port))), ...own };
}

/** Where Ray Serve answers, whatever its port is called. */
export const servePort = (cluster: Pick<RayCluster, "spec">): number => headPorts(cluster)["serve"] ?? PORTS.serve;

function headSelector(cluster: RayCluster): Record<string, string> {
  const { [GROUP]: _group, "ray.io/is-ray-node": _node, ...rest } = labelsOf(cluster, "head", HEAD_GROUP);
  return rest;
}

/** How long after its grace period a head is awaited before another takes its place, in milliseconds. */
const OVERDUE = 30_000;

/**
 * The head: the pod that knows all others. There must not be two, so that one that is being deleted is awaited, unless it
 * should have ended long ago: its node is lost. Undefined while it is awaited.
 */
export function headPodFor(cluster: RayCluster, existing: readonly Pod[] = [], now = 0) {
  const heads = existing.filter(({ metadata }) => metadata.labels?.[NODE_TYPE] === "head");
  const standing = heads.find(({ metadata }) => !metadata.deletionTimestamp);
  const isAwaited = heads.some(({ metadata }) => Date.parse(metadata.deletionTimestamp ?? "") + OVERDUE > now);
  if (!standing && isAwaited) return undefined;
  const taken = new Set(heads.map(({ metadata }) => metadata.name));
  let index = 0;
  while (taken.has(`${cluster.metadata.name}-head-${index}`)) index++;
  const name = standing?.metadata.name ?? `${cluster.metadata.name}-head-${index}`;
  return podFor(cluster, "head", HEAD_GROUP, name, cluster.spec.headGroupSpec);
}

/** The desired replicas of a group: within its bounds, none while it is suspended. */
export function replicasOf({ replicas, minReplicas, maxReplicas, suspend }: WorkerGroup): number {
  return suspend ? 0 : Math.min(Math.max(replicas, minReplicas), maxReplicas);
}

/**
 * The pods of a group. Those that are to be deleted by name make way for others; those that are there stay before others are
 * made, whatever their numbers, since they may be at work. Where the autoscaler decides, it alone says who goes.
 */
export function workerPodsFor(cluster: RayCluster, group: WorkerGroup, existing: readonly Pod[] = []) {
  const unwanted = new Set(group.scaleStrategy?.workersToDelete ?? []);
  // The name of a pod that is being deleted is free when it is gone, which may take for ever on a lost node.
  const leaving = new Set(existing.flatMap(({ metadata }) => (metadata.deletionTimestamp ? [metadata.name] : [])));
  const wanted = replicasOf(group) * group.numOfHosts;
  const standing = existing
    .filter(({ metadata: { labels, deletionTimestamp } }) => !deletionTimestamp && labels?.[GROUP] === group.groupName)
    .map(({ metadata }) => metadata.name)
    .filter((name) => !unwanted.has(name))
    .sort((a, b) => indexOf(a) - indexOf(b));
  const names = new Set(isAutoscaled(cluster) && !group.suspend ? standing : standing.slice(0, wanted));
  for (let index = 0; names.size < wanted; index++) {
    const name = truncatedName(`${cluster.metadata.name}-${group.groupName}-worker`, String(index));
    if (!unwanted.has(name) && !leaving.has(name)) names.add(name);
  }
  return [...names].map((name) => podFor(cluster, "worker", group.groupName, name, group));
}

/** The number that a worker's name ends in. */
const indexOf = (name: string) => Number(/\d+$/.exec(name)?.[0] ?? 0);

function podFor(
  cluster: RayCluster,
  type: NodeType,
  group: string,
  name: string,
  {
    template,
    rayStartParams,
    resources,
    labels,
  }: Pick<WorkerGroup, "template" | "rayStartParams" | "resources" | "labels">,
) {
  const { metadata, spec } = template;
  const [ray, ...others] = spec?.containers ?? [];
  const autoscales = type === "head" && isAutoscaled(cluster);
  // The monitor that Ray would start by itself knows nothing of Kubernetes.
  const parameters = {
    ...(autoscales && { "no-monitor": "true" }),
    ...rayStartParams,
    ...resourceParameters(resources),
    ...labelParameters(labels),
    ...(type === "head" && redisParameters(cluster)),
  };
  const annotations = { ...metadata?.annotations, ...(type === "head" && headAnnotations(cluster)) };
  const container = rayContainer(cluster, type, parameters, ray ?? { name: `ray-${type}` });
  return Pod.draft({
    metadata: {
      name,
      namespace: cluster.metadata.namespace,
      labels: {
        ...metadata?.labels,
        ...labels,
        ...labelsOf(cluster, type, group),
        // Whether a head serves requests is decided by its service.
        ...(type === "worker" && isServing(cluster) && { [SERVE]: "true" }),
      },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: restrictedPodSpec({
      ...spec,
      ...initContainers(cluster, type, spec, container),
      ...(autoscales && { serviceAccountName: headAccountName(cluster) }),
      ...(isSecondGeneration(cluster) && { restartPolicy: "Never" }),
      containers: [container, ...others, ...(autoscales ? [autoscalerContainer(cluster, ray ?? container)] : [])],
      volumes: withMissing(spec?.volumes, [
        { name: SHARED_MEMORY, emptyDir: { medium: "Memory" } },
        ...tokenVolumes(cluster),
        ...(autoscales ? [{ name: LOGS, emptyDir: {} }] : []),
      ]),
    }),
  });
}

function withMissing<T extends { name: string }>(own: readonly T[] = [], added: readonly T[]): T[] {
  return [...own, ...added.filter(({ name }) => !own.some((known) => known.name === name))];
}

/** A worker that starts before its head's store answers would only fail. */
function initContainers(cluster: RayCluster, type: NodeType, spec: PodSpec | undefined, ray: Container) {
  const own = spec?.initContainers ?? [];
  if (type === "head") return own.length > 0 ? { initContainers: own } : {};
  const address = `${headAddress(cluster)}:${headPort(cluster)}`;
  const wait: Container = {
    name: "wait-gcs-ready",
    image: ray.image!,
    ...(ray.imagePullPolicy && { imagePullPolicy: ray.imagePullPolicy }),
    command: ["/bin/bash", "-c", "--"],
    args: [
      `until ray health-check --address ${address} > /dev/null 2>&1; do echo "waiting for ${address}"; sleep 5; done`,
    ],
    // A head with TLS accepts only clients that have its certificates.
    env: withMissing(ray.env, [{ name: "FQ_RAY_IP", value: headAddress(cluster) }, ...tokenVariables(cluster)]),
    ...(ray.envFrom && { envFrom: ray.envFrom }),
    ...(ray.securityContext && { securityContext: ray.securityContext }),
    ...(ray.volumeMounts && { volumeMounts: ray.volumeMounts }),
    resources: { requests: { cpu: "200m", memory: "256Mi" }, limits: { cpu: "200m", memory: "256Mi" } },
  };
  return { initContainers: [...own, wait] };
}

function rayContainer(
  cluster: RayCluster,
  type: NodeType,
  given: Readonly<Record<string, string>>,
  container: Container,
): Container {
  const address = `${headAddress(cluster)}:${headPort(cluster)}`;
  const command = startCommand(type, startParameters(type, given, container.resources, address));
  const first = [...(container.command ?? []), ...(container.args ?? [])].join(" ");
  const ports = container.ports ?? [];
  return {
    ...container,
    command: ["/bin/bash", "-c", "--"],
    args: [`${first ? `${first} && ` : ""}ulimit -n ${OPEN_FILES}; ${command}`],
    env: withMissing(container.env, variables(cluster, type, command)),
    ports: ports.some(({ name }) => name === "metrics")
      ? ports
      : [...ports, { name: "metrics", containerPort: PORTS.metrics }],
    livenessProbe: container.livenessProbe ?? health(type, 30, 120),
    readinessProbe:
      container.readinessProbe ??
      (type === "worker" && isServing(cluster) ? proxyHealth(container) : health(type, 10, 10)),
    volumeMounts: withMounts(container.volumeMounts, [
      { name: SHARED_MEMORY, mountPath: "/dev/shm" },
      ...tokenMounts(cluster),
      ...(type === "head" && isAutoscaled(cluster) ? [LOGS_MOUNT] : []),
    ]),
  };
}

/** The container's own mounts, and others where it mounts nothing. */
function withMounts(own: readonly VolumeMount[] = [], others: readonly VolumeMount[]): VolumeMount[] {
  return [...own, ...others.filter(({ mountPath }) => !own.some((mount) => mount.mountPath === mountPath))];
}

function variables(cluster: RayCluster, type: NodeType, command: string): EnvVar[] {
  const port = headPort(cluster);
  const host = type === "head" ? "127.0.0.1" : headAddress(cluster);
  const field = (name: string, fieldPath: string): EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return [
    ...(type === "worker"
      ? [
          { name: "FQ_RAY_IP", value: host },
          { name: "RAY_IP", value: headServiceName(cluster) },
        ]
      : []),
    field("RAY_CLUSTER_NAME", `metadata.labels['${CLUSTER}']`),
    field("RAY_CLUSTER_NAMESPACE", "metadata.namespace"),
    field("RAY_CLOUD_INSTANCE_ID", "metadata.name"),
    field("RAY_NODE_TYPE_NAME", `metadata.labels['${GROUP}']`),
    { name: "KUBERAY_GEN_RAY_START_CMD", value: command },
    { name: "RAY_PORT", value: port },
    { name: "RAY_ADDRESS", value: `${host}:${port}` },
    ...(type === "head" && isSecondGeneration(cluster) ? [{ name: "RAY_enable_autoscaler_v2", value: "true" }] : []),
    ...faultToleranceVariables(cluster, type),
    ...tokenVariables(cluster),
    { name: "RAY_USAGE_STATS_KUBERAY_IN_USE", value: "1" },
    { name: "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", value: "1" },
  ];
}

const ask = (port: number, path: string) =>
  `wget --tries 1 -T 2 -q -O- http://localhost:${port}/${path} | grep success`;
const AGENT_HEALTH = ask(52365, "api/local_raylet_healthz");

function health(type: NodeType, initialDelaySeconds: number, failureThreshold: number): Probe {
  const command = type === "head" ? `${AGENT_HEALTH} && ${ask(PORTS.dashboard, "api/gcs_healthz")}` : AGENT_HEALTH;
  return {
    exec: { command: ["bash", "-c", command] },
    initialDelaySeconds,
    periodSeconds: 5,
    timeoutSeconds: type === "head" ? 5 : 2,
    failureThreshold,
  };
}

/** A worker of a service is ready while its proxy takes requests: it has none while no replica runs on it. */
function proxyHealth({ ports = [] }: Container): Probe {
  const port = ports.find(({ name }) => name === "serve")?.containerPort ?? PORTS.serve;
  const probe = health("worker", 10, 1);
  return { ...probe, exec: { command: ["bash", "-c", `${AGENT_HEALTH} && ${ask(port, "-/healthz")}`] } };
}
