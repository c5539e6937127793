import type { Drafted } from "konverge";
import { type Container, Deployment, type EnvVar, type Probe, Service } from "konverge/kinds";
import { portNamed } from "./components.ts";
import { MODEL_FOLDER, type ModelSupply, modelSupply } from "./model-initializer.ts";
import { DEPLOYMENT_ID, explainerName, idOf, MANAGED_BY, predictorName, SELDON_APP } from "./names.ts";
import { secured } from "./pod-user.ts";
import type { Explainer, Predictor, SeldonDeployment } from "./seldon-deployment.ts";
import { isV2 } from "./servers.ts";
import { labelsOf } from "./unit-container.ts";

const DEFAULT_PORT = 9000;
const IMAGES = { v1: "seldonio/alibiexplainer:1.18.2", v2: "seldonio/mlserver:1.3.5-alibi-explain" } as const;
/** What MLServer calls the explainers that are not called by their own names in small letters. */
const RUNTIME_NAMES: Readonly<Record<string, string>> = { AnchorImages: "anchor_image" };

/** A predictor's explainer: who it asks, and what runs it. */
export interface Explaining {
  readonly deployment: Drafted<Deployment>;
  readonly service: Drafted<Service>;
}

/** The Deployment and the Service of a predictor's explainer; undefined if it has none. */
export function explainerOf(
  object: SeldonDeployment,
  predictor: Predictor,
  entry: { readonly http: string; readonly grpc: string },
  initializerImage: string,
): Explaining | undefined {
  const { explainer } = predictor;
  if (!explainer) return undefined;
  const name = explainerName(object, predictor);
  const { namespace } = object.metadata;
  const port =
    portNamed(explainer.containerSpec?.ports, "http")?.containerPort ??
    explainer.endpoint?.service_port ??
    DEFAULT_PORT;
  const selector = { [DEPLOYMENT_ID]: idOf(object), [SELDON_APP]: name };
  const labels = { ...labelsOf(predictor), ...MANAGED_BY, app: name, fluentd: "true", ...selector };
  const container = explainerContainer(object, predictor, explainer, name, port, entry);
  const supply = modelSupply({ ...explainer, name: container.name }, initializerImage);
  return {
    deployment: Deployment.draft({
      metadata: { name, namespace, labels, annotations: { ...object.spec.annotations, ...predictor.annotations } },
      spec: {
        replicas: replicasOf(object, predictor, explainer),
        selector: { matchLabels: selector },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
        ...(predictor.progressDeadlineSeconds && { progressDeadlineSeconds: predictor.progressDeadlineSeconds }),
        template: {
          metadata: { labels },
          spec: secured({
            terminationGracePeriodSeconds: 20,
            ...(explainer.serviceAccountName && { serviceAccountName: explainer.serviceAccountName }),
            ...(supply && { initContainers: [supply.initContainer], volumes: [...supply.volumes] }),
            containers: [withModel(container, supply)],
          }),
        },
      },
    }),
    service: Service.draft({
      metadata: {
        name,
        namespace,
        labels: { [DEPLOYMENT_ID]: idOf(object), [SELDON_APP]: predictorName(object, predictor), ...MANAGED_BY },
        ...(predictor.annotations && { annotations: predictor.annotations }),
      },
      spec: {
        type: "ClusterIP",
        selector: { [SELDON_APP]: name },
        ports: [{ name: "http", port, targetPort: port, protocol: "TCP" }],
      },
    }),
  };
}

/** A predictor that is scaled to nothing has nothing to explain. */
function replicasOf({ spec }: SeldonDeployment, predictor: Predictor, explainer: Explainer): number {
  return (predictor.replicas ?? spec.replicas) === 0 ? 0 : (explainer.replicas ?? 1);
}

function explainerContainer(
  { spec }: SeldonDeployment,
  { graph }: Predictor,
  explainer: Explainer,
  name: string,
  port: number,
  entry: { readonly http: string; readonly grpc: string },
): Container {
  const own = explainer.containerSpec ?? {};
  const speaksV2 = isV2(spec.protocol);
  const isGrpc = spec.transport === "grpc" || explainer.endpoint?.type === "GRPC";
  const host = isGrpc ? entry.grpc : entry.http;
  const container: Container = {
    ...own,
    name: own.name ?? name,
    image: own.image ?? (speaksV2 ? IMAGES.v2 : IMAGES.v1),
    imagePullPolicy: own.imagePullPolicy ?? "IfNotPresent",
    ports: portNamed(own.ports, "http")
      ? own.ports!
      : [...(own.ports ?? []), { name: "http", containerPort: port, protocol: "TCP" }],
    livenessProbe: own.livenessProbe ?? open(60, 5),
    readinessProbe: own.readinessProbe ?? open(20, 7),
    lifecycle: own.lifecycle ?? { preStop: { exec: { command: ["/bin/sh", "-c", "/bin/sleep 10"] } } },
  };
  if (speaksV2) return { ...container, env: runtimeVariables(explainer, container.name, port, `${host}`, graph.name) };
  const protocol = `${spec.protocol === "tensorflow" ? "tensorflow" : "seldon"}.${isGrpc ? "grpc" : "http"}`;
  return {
    ...container,
    args: [
      `--model_name=${graph.name}`,
      `--predictor_host=${host}`,
      `--protocol=${protocol}`,
      `--http_port=${port}`,
      ...(explainer.modelUri ? [`--storage_uri=${MODEL_FOLDER}`] : []),
      explainer.type,
      ...(explainer.type === "AnchorImages" ? ["--tf_data_type=float32"] : []),
      ...settings(explainer),
    ],
  };
}

/** In the order of their names; what lies beside the model is found where the model is put. */
function settings({ config = {}, modelUri }: Explainer): string[] {
  return Object.entries(config)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `--${key}=${modelUri ? value.replace(modelUri, MODEL_FOLDER) : value}`);
}

/** What MLServer's runtime for explainers reads. */
function runtimeVariables(explainer: Explainer, name: string, port: number, host: string, model: string): EnvVar[] {
  const { type, modelUri, initParameters } = explainer;
  const snake = type.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
  const extra = {
    infer_uri: `http://${host}/v2/models/${model}/infer`,
    explainer_type: RUNTIME_NAMES[type] ?? snake,
    ...(initParameters && { init_parameters: initParameters }),
  };
  const added: EnvVar[] = [
    { name: "MLSERVER_HTTP_PORT", value: String(port) },
    { name: "MLSERVER_MODEL_IMPLEMENTATION", value: "mlserver_alibi_explain.AlibiExplainRuntime" },
    { name: "MLSERVER_MODEL_NAME", value: name },
    ...(modelUri ? [{ name: "MLSERVER_MODEL_URI", value: MODEL_FOLDER }] : []),
    { name: "MLSERVER_MODEL_EXTRA", value: JSON.stringify(extra) },
  ];
  const own = explainer.containerSpec?.env ?? [];
  return [...own, ...added.filter((one) => !own.some((known) => known.name === one.name))];
}

function withModel(container: Container, supply: ModelSupply | undefined): Container {
  return supply ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), ...supply.mounts] } : container;
}

function open(initialDelaySeconds: number, failureThreshold: number): Probe {
  return { tcpSocket: { port: "http" }, initialDelaySeconds, periodSeconds: 5, failureThreshold, timeoutSeconds: 1 };
}
