import type { Container, EnvVar, Probe, VolumeMount } from "konverge/kinds";
import { type PlannedContainer, portNamed } from "./components.ts";
import { MODEL_FOLDER, type ModelSupply } from "./model-initializer.ts";
import type { Predictor, SeldonDeployment, Unit } from "./seldon-deployment.ts";
import { serverStart } from "./server-container.ts";
import { isServer, serverImage } from "./servers.ts";

/** Where containers find what is said about their pod. */
export const POD_INFO = "seldon-podinfo";
export const POD_INFO_FOLDER = "/etc/podinfo";
export const METRICS_PATH = "/prometheus";

/**
 * The container that does a unit's work, as it runs: what its author left open is filled in, what he said stays.
 *
 * `supply` is how its model comes into the pod.
 */
export function unitContainer(
  object: SeldonDeployment,
  predictor: Predictor,
  planned: PlannedContainer,
  supply: ModelSupply | undefined,
): Container {
  const { container, unit, endpoint } = planned;
  if (!unit || !endpoint) return container;
  const { protocol, transport } = object.spec;
  const grpc = transport === "grpc" || unit.endpoint?.type === "GRPC";
  const port = grpc ? endpoint.grpc : endpoint.http;
  const server = isServer(unit.implementation) ? serverImage(unit.implementation, protocol) : undefined;
  const image = container.image ?? server;
  const start = serverStart(object, unit, endpoint);
  const probe = start.hasHealthEndpoints ? healthy : open;
  return {
    ...container,
    ...(image && { image }),
    ...(start.args && { args: container.args ?? start.args }),
    ...(start.envFrom && { envFrom: container.envFrom ?? start.envFrom }),
    imagePullPolicy: container.imagePullPolicy ?? "IfNotPresent",
    ...(resourcesOf(container, unit) && { resources: resourcesOf(container, unit)! }),
    ports: [
      ...(container.ports ?? []),
      ...missingPort(container, "http", endpoint.http),
      ...missingPort(container, "grpc", endpoint.grpc),
      ...missingPort(container, "metrics", planned.metricsPort!),
    ],
    env: merged(container.env ?? [], [
      { name: "PREDICTIVE_UNIT_SERVICE_PORT", value: String(port) },
      { name: "PREDICTIVE_UNIT_HTTP_SERVICE_PORT", value: String(endpoint.http) },
      { name: "MLSERVER_HTTP_PORT", value: String(endpoint.http) },
      { name: "PREDICTIVE_UNIT_GRPC_SERVICE_PORT", value: String(endpoint.grpc) },
      { name: "MLSERVER_GRPC_PORT", value: String(endpoint.grpc) },
      ...parameterVariable(start.parameters),
      ...(start.env ?? []),
      ...(unit.modelUri && !start.env ? [{ name: "MLSERVER_MODEL_URI", value: MODEL_FOLDER }] : []),
      { name: "PREDICTIVE_UNIT_ID", value: unit.name },
      { name: "MLSERVER_MODEL_NAME", value: unit.name },
      { name: "PREDICTIVE_UNIT_IMAGE", value: image ?? "" },
      { name: "PREDICTOR_ID", value: predictor.name },
      { name: "PREDICTOR_LABELS", value: JSON.stringify(labelsOf(predictor)) },
      { name: "SELDON_DEPLOYMENT_ID", value: object.metadata.name },
      { name: "SELDON_EXECUTOR_ENABLED", value: "true" },
      { name: "PREDICTIVE_UNIT_METRICS_SERVICE_PORT", value: String(planned.metricsPort) },
      { name: "PREDICTIVE_UNIT_METRICS_ENDPOINT", value: METRICS_PATH },
      { name: "MLSERVER_METRICS_PORT", value: String(planned.metricsPort) },
      { name: "MLSERVER_METRICS_ENDPOINT", value: METRICS_PATH },
    ]),
    livenessProbe: container.livenessProbe ?? probe(port, 60, "live"),
    readinessProbe: container.readinessProbe ?? probe(port, 20, "ready"),
    // Requests that are on their way when the pod is taken out of its Service still find it.
    lifecycle: container.lifecycle ?? { preStop: { exec: { command: ["/bin/sh", "-c", "/bin/sleep 10"] } } },
    volumeMounts: mounts(container.volumeMounts ?? [], [
      { name: POD_INFO, mountPath: POD_INFO_FOLDER },
      ...(supply?.mounts ?? []),
    ]),
  };
}

/** A predictor's labels; the version that meshes route by is its name unless it says otherwise. */
export function labelsOf({ name, labels }: Predictor): Record<string, string> {
  return { version: name, ...labels };
}

function resourcesOf(container: Container, unit: Unit) {
  return container.resources ?? unit.resources;
}

function parameterVariable(parameters: readonly unknown[]): EnvVar[] {
  if (parameters.length === 0) return [];
  return [{ name: "PREDICTIVE_UNIT_PARAMETERS", value: JSON.stringify(parameters) }];
}

function missingPort(container: Container, name: string, containerPort: number) {
  return portNamed(container.ports, name) ? [] : [{ name, containerPort }];
}

/** What the author set stays; the rest is added. */
function merged(own: readonly EnvVar[], added: readonly EnvVar[]): EnvVar[] {
  return [...own, ...added.filter(({ name }) => !own.some((known) => known.name === name))];
}

function mounts(own: readonly VolumeMount[], added: readonly VolumeMount[]): VolumeMount[] {
  return [...own, ...added.filter(({ mountPath }) => !own.some((known) => known.mountPath === mountPath))];
}

const PERIODS = { periodSeconds: 5, failureThreshold: 3, timeoutSeconds: 1 } as const;

function open(port: number, initialDelaySeconds: number): Probe {
  return { tcpSocket: { port }, initialDelaySeconds, ...PERIODS };
}

/** By the health endpoints of the protocol v2, which servers offer over HTTP whatever the transport. */
function healthy(_port: number, initialDelaySeconds: number, check: "live" | "ready"): Probe {
  return { httpGet: { path: `/v2/health/${check}`, port: "http" }, initialDelaySeconds, ...PERIODS };
}
