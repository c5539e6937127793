import type { Container, ContainerPort, EnvVar, Lifecycle, Probe } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";
import { drainHook } from "konverge/pods";
import { type Engine, MIGRATION_LIMIT, workerCommand } from "./engine.ts";
import { IN_FLIGHT } from "./in-flight.ts";
import { type ComponentType, isWorker } from "./names.ts";

/** Where components listen. */
export const HTTP_PORT = 8000;
export const SYSTEM_PORT = 9090;
const PLANNER_METRICS_PORT = 9085;
/** Where an endpoint picker is asked, by gRPC. */
export const PICKER_PORT = 9002;
const PICKER_HEALTH_PORT = 9003;
/** Where an endpoint picker reads its configuration. */
export const PICKER_CONFIG = { folder: "/etc/epp", file: "epp-config-dynamo.yaml" };

/** What the container of a component depends on. */
export interface ContainerContext {
  readonly type: ComponentType;
  readonly component: string;
  readonly graph: string | undefined;
  readonly namespace: string;
  readonly dynamoNamespace: string;
  readonly image: string;
  readonly version: string | undefined;
  readonly engine: Engine;
  readonly graceSeconds: number;
  readonly natsAddress: string;
  readonly etcdAddress: string;
}

/**
 * A component's container, completed by what its type needs: its own fields win, and its variables over those of the
 * operator, in the order of their names.
 */
export function componentContainer(context: ContainerContext, own: DeepReadonly<Container>): Container {
  const { type } = context;
  const probes = probesOf(type);
  const defaults: Partial<Container> = { ...commandOf(context, own), ...lifecycleOf(context), ...probes };
  const ports = portsOf(type).filter(({ name }) => !own.ports?.some((port) => port.name === name));
  return {
    ...defaults,
    ...(own as Container),
    ...completedProbes(own as Container, probes),
    image: own.image ?? context.image,
    env: mergedVariables(variablesOf(context), own.env ?? []),
    ports: [...ports, ...(own.ports ?? [])],
  };
}

/**
 * What runs if the component has no command: the image's own for all but frontends, workers and scripts. Arguments that are
 * a script, as `python3 -m dynamo.vllm --model m` in one word, are run by a shell, as Dynamo's own operator does.
 */
function commandOf(context: ContainerContext, own: DeepReadonly<Container>): Partial<Container> {
  const { type, engine, version, component } = context;
  if (own.command) return {};
  if (own.args?.length === 1 && /\s/.test(own.args[0]!)) return { command: ["/bin/sh", "-c"] };
  if (type === "frontend") return { command: ["python3"], args: ["-m", "dynamo.frontend"] };
  if (type === "epp") return { args: pickerArgs(context) };
  if (!isWorker(type)) return {};
  if (own.args?.[0] === "-m") return { command: ["python3"] };
  const isPrefill = type === "prefill" || component.toLowerCase().includes("prefill");
  const namesModel = own.env?.some(({ name }) => name === "MODEL") ?? false;
  return workerCommand({ engine, image: own.image ?? context.image, version, isPrefill, namesModel });
}

/** The pool whose endpoints a picker chooses from. */
export const poolName = (graph: string) => `${graph}-pool`;

function pickerArgs({ graph = "", namespace }: ContainerContext): string[] {
  return [
    ...["--pool-name", poolName(graph), "--pool-namespace", namespace, "--pool-group", "inference.networking.k8s.io"],
    ...["--grpc-port", String(PICKER_PORT), "--grpc-health-port", String(PICKER_HEALTH_PORT)],
    ...["--config-file", `${PICKER_CONFIG.folder}/${PICKER_CONFIG.file}`],
  ];
}

/**
 * Frontends get requests through a Service, and serve until no more arrive. Workers get requests from frontends that find
 * them in the registry, independent of Kubernetes: only SIGTERM makes their runtime deregister them, so nothing delays it.
 * Requests that they have then, or get until all frontends know, continue on other workers: see {@link workerCommand}.
 */
function lifecycleOf({ type, graceSeconds }: ContainerContext): { lifecycle?: Lifecycle } {
  if (type !== "frontend") return {};
  return { lifecycle: drainHook({ graceSeconds, port: HTTP_PORT, series: IN_FLIGHT }) };
}

function portsOf(type: ComponentType): ContainerPort[] {
  if (type === "frontend") return [{ name: "http", containerPort: HTTP_PORT }];
  if (isWorker(type)) return [{ name: "system", containerPort: SYSTEM_PORT }];
  if (type === "planner")
    return [
      { name: "metrics", containerPort: PLANNER_METRICS_PORT },
      { name: "system", containerPort: SYSTEM_PORT },
    ];
  if (type !== "epp") return [];
  return [
    { name: "grpc", containerPort: PICKER_PORT },
    { name: "grpc-health", containerPort: PICKER_HEALTH_PORT },
    { name: "metrics", containerPort: SYSTEM_PORT },
  ];
}

/** Workers take long to load a model, and planners wait for them: two hours before a restart. */
function probesOf(type: ComponentType): { livenessProbe?: Probe; readinessProbe?: Probe; startupProbe?: Probe } {
  const at = (path: string, port: string, more: Partial<Probe> = {}): Probe => ({ httpGet: { path, port }, ...more });
  if (type === "frontend") {
    return {
      livenessProbe: at("/live", "http", { initialDelaySeconds: 15, periodSeconds: 10 }),
      readinessProbe: at("/health", "http", { periodSeconds: 5 }),
    };
  }
  if (type === "epp") {
    const grpc = { grpc: { port: PICKER_HEALTH_PORT, service: "inference-extension" }, periodSeconds: 10 };
    return { startupProbe: { ...grpc, failureThreshold: 180 }, livenessProbe: grpc, readinessProbe: grpc };
  }
  if (!isWorker(type) && type !== "planner") return {};
  return {
    startupProbe: at("/live", "system", { periodSeconds: 10, failureThreshold: 720 }),
    livenessProbe: at("/live", "system", { periodSeconds: 5, failureThreshold: 3 }),
    readinessProbe: at("/health", "system", { periodSeconds: 10 }),
  };
}

const PROBES = ["startupProbe", "livenessProbe", "readinessProbe"] as const;

/** Probes that say when to ask, but not what: the usual ones with other times. */
function completedProbes(own: Container, usual: ReturnType<typeof probesOf>): Partial<Container> {
  const completed = PROBES.flatMap((name) => {
    const probe = own[name];
    const { httpGet, grpc, exec, tcpSocket } = probe ?? {};
    return probe && usual[name] && !(httpGet || grpc || exec || tcpSocket)
      ? [[name, { ...usual[name], ...probe }]]
      : [];
  });
  return Object.fromEntries(completed);
}

function variablesOf(context: ContainerContext): EnvVar[] {
  const { component, graph, namespace, dynamoNamespace, natsAddress, etcdAddress } = context;
  const field = (name: string, fieldPath: string): EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return [
    { name: "DYN_NAMESPACE", value: dynamoNamespace },
    { name: "DYN_COMPONENT", value: component },
    { name: "DYN_PARENT_DGD_K8S_NAME", value: graph ?? "" },
    { name: "DYN_PARENT_DGD_K8S_NAMESPACE", value: namespace },
    field("POD_NAME", "metadata.name"),
    field("POD_NAMESPACE", "metadata.namespace"),
    field("POD_UID", "metadata.uid"),
    ...typeVariables(context),
    ...(natsAddress ? [{ name: "NATS_SERVER", value: natsAddress }] : []),
    ...(etcdAddress
      ? [{ name: "ETCD_ENDPOINTS", value: etcdAddress }]
      : [{ name: "DYN_DISCOVERY_BACKEND", value: "kubernetes" }]),
  ];
}

function typeVariables({ type, dynamoNamespace }: ContainerContext): EnvVar[] {
  const systemPort = { name: "DYN_SYSTEM_PORT", value: String(SYSTEM_PORT) };
  if (type === "frontend")
    return [
      { name: "DYNAMO_PORT", value: String(HTTP_PORT) },
      { name: "DYN_HTTP_PORT", value: String(HTTP_PORT) },
      { name: "DYN_NAMESPACE_PREFIX", value: dynamoNamespace },
      { name: "DYN_MIGRATION_LIMIT", value: String(MIGRATION_LIMIT) },
    ];
  if (type === "planner") return [{ name: "PLANNER_PROMETHEUS_PORT", value: String(PLANNER_METRICS_PORT) }, systemPort];
  if (type === "epp")
    return [
      { name: "USE_STREAMING", value: "true" },
      { name: "DYN_NAMESPACE_PREFIX", value: dynamoNamespace },
    ];
  if (!isWorker(type)) return [];
  return [
    { name: "DYN_SYSTEM_ENABLED", value: "true" },
    systemPort,
    // What the probes report: without it, the runtime always answers 503.
    { name: "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", value: '["generate"]' },
  ];
}

/** Variables by name: the second list wins. */
export function mergedVariables(weaker: readonly EnvVar[], stronger: DeepReadonly<EnvVar[]>): EnvVar[] {
  const all = new Map([...weaker, ...(stronger as EnvVar[])].map((variable) => [variable.name, variable]));
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
