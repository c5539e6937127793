import { type PlannedChild, plannedChild } from "konverge";
import { ConfigMap, HorizontalPodAutoscaler, PodDisruptionBudget, Service, StatefulSet } from "konverge/kinds";
import { templateHash } from "konverge/objects";
import { printYaml } from "konverge/schema";
import { PORT } from "./container-layout.ts";
import { engineOf } from "./engines/engine-of.ts";
import { MANAGED, podTemplateFor, servedModel } from "./inference-server.ts";
import type { ModelDeployment } from "./model-deployment.ts";
import { parallelOptions } from "./parallelism.ts";

/** The label that names a pod's ModelDeployment. */
export const DEPLOYMENT_LABEL = "ai.example.com/deployment";
const CONFIG_FOLDER = "/etc/vllm";
/** Waiting requests per replica at which the autoscaler goes beyond need. */
const QUEUE_TARGET = "4";

/** Which of a deployment's servers: those of the stable revision, or those of one that is tried beside it. */
export type Track = "stable" | "canary";

/**
 * The labels by which a deployment's pods are selected. Those of a canary differ, so that neither the autoscaler nor the
 * StatefulSet of the stable revision counts them.
 */
export function deploymentLabels(
  { metadata: { name } }: ModelDeployment,
  track: Track = "stable",
): Record<string, string> {
  return { app: track === "canary" ? "modeldeployment-canary" : "modeldeployment", [DEPLOYMENT_LABEL]: name };
}

/** The labels that the pods of both revisions have. */
function commonLabels({ metadata: { name } }: ModelDeployment): Record<string, string> {
  return { [DEPLOYMENT_LABEL]: name };
}

/** The name of the children that each revision has for itself. */
export function trackName({ metadata: { name } }: ModelDeployment, track: Track): string {
  return track === "canary" ? `${name}-canary` : name;
}

function metadataOf(deployment: ModelDeployment, track: Track = "stable") {
  const { namespace } = deployment.metadata;
  const labels = { ...deploymentLabels(deployment, track), ...MANAGED };
  return { name: trackName(deployment, track), namespace, labels };
}

/** What names the configuration file, and users therefore must not set. */
export const CONFIG_ARGS = ["--config"] as const;

/** Whether servers read their configuration from a file; others get it as arguments. */
export function usesConfigFile({ engine = "vLLM" }: Pick<ModelDeployment["spec"], "engine">): boolean {
  return engine === "vLLM";
}

/** How the servers are configured, as a file that they read; none for those that do not read one. */
export function configMapsFor(deployment: ModelDeployment, track: Track = "stable") {
  return usesConfigFile(deployment.spec) ? [configMapFor(deployment, track)] : [];
}

function configMapFor(deployment: ModelDeployment, track: Track = "stable") {
  const { model, source } = deployment.spec;
  const revision = source?.huggingFace?.revision;
  const config = {
    model: servedModel(deployment.spec, model).location ?? model,
    "served-model-name": model,
    ...(revision && { revision }),
    ...parallelOptions(deployment.spec),
    port: PORT.containerPort,
  };
  return ConfigMap.draft({
    metadata: metadataOf(deployment, track),
    data: { "config.yaml": printYaml(config) },
  });
}

/**
 * The StatefulSet that serves the model. Replicas have names that stay; they start and end all at once, since none waits for
 * another. Its size is set in the beginning only: afterwards it is the autoscaler's.
 */
export function statefulSetFor(
  deployment: ModelDeployment,
  { products, replicas }: { products: readonly string[]; replicas: number },
): PlannedChild {
  const draft = StatefulSet.draft({
    metadata: metadataOf(deployment),
    spec: serversOf(deployment, "stable", products),
  });
  return plannedChild(draft, { initially: { spec: { replicas } } });
}

/** The StatefulSet of a revision that is tried. No autoscaler owns its size. */
export function canarySetFor(
  deployment: ModelDeployment,
  { products, replicas }: { products: readonly string[]; replicas: number },
) {
  return StatefulSet.draft({
    metadata: metadataOf(deployment, "canary"),
    spec: { ...serversOf(deployment, "canary", products), replicas },
  });
}

function serversOf(deployment: ModelDeployment, track: Track, products: readonly string[]) {
  const { spec } = deployment;
  const config = configMapsFor(deployment, track)[0];
  const labels = deploymentLabels(deployment, track);
  return {
    serviceName: headlessName(deployment),
    podManagementPolicy: "Parallel" as const,
    selector: { matchLabels: labels },
    template: podTemplateFor(spec, {
      metadata: {
        labels: { ...labels, ...MANAGED },
        // Servers read their configuration when they start.
        ...(config && { annotations: { "ai.example.com/config": templateHash(config.data ?? {}) } }),
      },
      modelName: spec.model,
      args: config
        ? ["--config", `${CONFIG_FOLDER}/config.yaml`]
        : engineOf(spec).args(spec, servedModel(spec, spec.model)),
      products,
      ...(config && {
        volumes: [
          {
            volume: { name: "config", configMap: { name: trackName(deployment, track) } },
            mount: { mountPath: CONFIG_FOLDER, readOnly: true },
          },
        ],
      }),
    }),
  };
}

function headlessName(deployment: ModelDeployment): string {
  return `${deployment.metadata.name}-pods`;
}

/** The Service by which the model is found: of one revision, or of both. */
export function discoveryServiceFor(deployment: ModelDeployment, tracks: Track | "both" = "stable") {
  return Service.draft({
    metadata: metadataOf(deployment, tracks === "canary" ? "canary" : "stable"),
    spec: {
      selector: tracks === "both" ? commonLabels(deployment) : deploymentLabels(deployment, tracks),
      ports: [{ name: PORT.name, port: 80, targetPort: PORT.name }],
    },
  });
}

/** The labels of the one Service through which Prometheus finds each replica once. */
export function scrapedLabels(deployment: ModelDeployment): Record<string, string> {
  return { ...deploymentLabels(deployment), "ai.example.com/scrape": "pods" };
}

/** The headless Service that gives each replica a DNS name. */
export function headlessServiceFor(deployment: ModelDeployment, tracks: "stable" | "both" = "stable") {
  const { labels, ...metadata } = metadataOf(deployment);
  return Service.draft({
    metadata: { ...metadata, name: headlessName(deployment), labels: { ...labels, ...scrapedLabels(deployment) } },
    spec: {
      clusterIP: "None",
      selector: tracks === "both" ? commonLabels(deployment) : deploymentLabels(deployment),
      ports: [{ name: PORT.name, port: PORT.containerPort, targetPort: PORT.name }],
    },
  });
}

/** Where the model answers inside the cluster. */
export function deploymentEndpoint({ metadata: { name, namespace } }: ModelDeployment): string {
  return `http://${name}.${namespace}.svc/v1`;
}

/**
 * The autoscaler that owns the size between these bounds. It goes beyond the lower one when requests queue up, which it can
 * see only where an adapter serves the servers' metrics; without one it still keeps the bounds.
 */
export function autoscalerFor(deployment: ModelDeployment, bounds: { min: number; max: number }): PlannedChild {
  const { name } = deployment.metadata;
  const metric = deployment.spec.scaling?.queueMetric ?? engineOf(deployment.spec).queueMetric;
  const draft = HorizontalPodAutoscaler.draft({
    metadata: metadataOf(deployment),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name },
      minReplicas: bounds.min,
      maxReplicas: bounds.max,
      metrics: [
        {
          type: "Pods",
          pods: { metric: { name: metric }, target: { type: "AverageValue", averageValue: QUEUE_TARGET } },
        },
      ],
    },
  });
  return plannedChild(draft, { readyWhen: () => true });
}

/** One replica at a time may be taken away by node maintenance. */
export function deploymentBudgetFor(deployment: ModelDeployment) {
  return PodDisruptionBudget.draft({
    metadata: metadataOf(deployment),
    spec: { maxUnavailable: 1, selector: { matchLabels: deploymentLabels(deployment) } },
  });
}
