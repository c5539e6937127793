import type { Container, EnvVar, Probe } from "konverge/kinds";
import type { Component, Endpoint } from "./components.ts";
import { annotationOf } from "./route.ts";
import type { Predictor, SeldonDeployment, Unit } from "./seldon-deployment.ts";
import { labelsOf, METRICS_PATH, POD_INFO, POD_INFO_FOLDER } from "./unit-container.ts";

/** The container through which requests enter a graph, and that leads them through it. */
export const ORCHESTRATOR = "seldon-container-engine";
export const HTTP_PORT = 8000;
export const GRPC_PORT = 5001;

const NO_ORCHESTRATOR = "seldon.io/no-engine";

/** Less than its units wait: they still answer what the orchestrator has accepted last. */
const DRAIN_SECONDS = 5;

/** Whether requests go to the predictor's only unit directly. */
export function hasNoOrchestrator({ annotations }: Predictor): boolean {
  return annotations?.[NO_ORCHESTRATOR]?.toLowerCase() === "true";
}

export function orchestratorContainer(
  object: SeldonDeployment,
  predictor: Predictor,
  components: readonly Component[],
  image: string,
): Container {
  const { metadata, spec } = object;
  const { svcOrchSpec, engineResources } = predictor;
  const small = { cpu: "500m", memory: "512Mi" };
  return {
    name: ORCHESTRATOR,
    image,
    imagePullPolicy: "IfNotPresent",
    args: [
      ...["--sdep", metadata.name],
      ...["--namespace", metadata.namespace ?? "default"],
      ...["--predictor", predictor.name],
      ...["--http_port", String(HTTP_PORT)],
      ...["--grpc_port", String(GRPC_PORT)],
      ...["--protocol", spec.protocol ?? "seldon"],
      ...["--transport", spec.transport ?? "rest"],
      ...["--prometheus_path", METRICS_PATH],
      ...["--server_type", spec.serverType ?? "rpc"],
      ...["--log_work_buffer_size", annotationOf(object, "seldon.io/executor-logger-queue-size") ?? "10000"],
      ...["--log_write_timeout_ms", annotationOf(object, "seldon.io/executor-logger-write-timeout-ms") ?? "2000"],
      "--full_health_checks=false",
    ],
    env: [
      { name: "ENGINE_PREDICTOR", value: encodedPredictor(predictor, components) },
      { name: "REQUEST_LOGGER_DEFAULT_ENDPOINT", value: "http://default-broker" },
      ...variables(object, svcOrchSpec?.env ?? []),
    ],
    // Metrics come from the same port; upstream lists it a second time for them, which server-side apply refuses.
    ports: [
      { name: "http", containerPort: HTTP_PORT },
      { name: "grpc", containerPort: GRPC_PORT },
    ],
    readinessProbe: answers("/ready"),
    livenessProbe: answers("/live"),
    // It accepts no more connections from SIGTERM on, before all nodes have stopped sending them. Kubernetes
    // 1.28 has no `sleep` handler.
    lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", `/bin/sleep ${DRAIN_SECONDS}`] } } },
    resources: svcOrchSpec?.resources ?? engineResources ?? { requests: small, limits: small },
    volumeMounts: [{ name: POD_INFO, mountPath: POD_INFO_FOLDER }],
  };
}

/** The graph, for the orchestrator. Without traffic and replicas, which change without a rollout. */
function encodedPredictor(predictor: Predictor, components: readonly Component[]): string {
  const endpoints = new Map(
    components.flatMap(({ containers }) =>
      containers.flatMap(({ unit, endpoint }) => (unit && endpoint ? [[unit.name, endpoint] as const] : [])),
    ),
  );
  const { name, graph, annotations } = predictor;
  const encoded = { name, graph: located(graph, endpoints), labels: labelsOf(predictor), annotations, replicas: 0 };
  return Buffer.from(JSON.stringify(encoded)).toString("base64");
}

function located(unit: Unit, endpoints: ReadonlyMap<string, Endpoint>): Unit {
  const found = endpoints.get(unit.name);
  return {
    ...unit,
    ...(found && {
      endpoint: {
        type: "REST",
        ...unit.endpoint,
        service_host: found.host,
        service_port: unit.endpoint?.type === "GRPC" ? found.grpc : found.http,
        httpPort: found.http,
        grpcPort: found.grpc,
      },
    }),
    ...(unit.children && { children: unit.children.map((child) => located(child, endpoints)) }),
  };
}

/** Annotations `seldon.io/engine-…` become variables, unless the predictor sets them itself. */
function variables({ spec }: SeldonDeployment, own: readonly EnvVar[]): EnvVar[] {
  const prefix = "seldon.io/engine-";
  const fromAnnotations = Object.entries(spec.annotations ?? {})
    .filter(([key]) => key.startsWith(prefix) && key !== "seldon.io/engine-separate-pod")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ name: key.slice(prefix.length).replaceAll("-", "_").toUpperCase(), value }));
  return [...own, ...fromAnnotations.filter(({ name }) => !own.some((known) => known.name === name))];
}

function answers(path: string): Probe {
  return {
    httpGet: { path, port: HTTP_PORT },
    initialDelaySeconds: 20,
    periodSeconds: 5,
    failureThreshold: 3,
    timeoutSeconds: 60,
  };
}
