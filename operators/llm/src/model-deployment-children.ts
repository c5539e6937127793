import { type PlannedChild, plannedChild } from "konverge";
import { ConfigMap, HorizontalPodAutoscaler, PodDisruptionBudget, Service, StatefulSet } from "konverge/kinds";
import { templateHash } from "konverge/objects";
import { printYaml } from "konverge/schema";
import { MANAGED, modelSupply, PORT, podTemplateFor } from "./inference-server.ts";
import type { ModelDeployment } from "./model-deployment.ts";

/** The label that names a pod's ModelDeployment. */
export const DEPLOYMENT_LABEL = "ai.example.com/deployment";
const CONFIG_FOLDER = "/etc/vllm";
/** Waiting requests per replica at which the autoscaler goes beyond need. */
const QUEUE_TARGET = "4";

/** The labels by which a deployment's pods are selected. */
export function deploymentLabels({ metadata: { name } }: ModelDeployment): Record<string, string> {
  return { app: "modeldeployment", [DEPLOYMENT_LABEL]: name };
}

function metadataOf(deployment: ModelDeployment, suffix = "") {
  const { name, namespace } = deployment.metadata;
  return { name: `${name}${suffix}`, namespace, labels: { ...deploymentLabels(deployment), ...MANAGED } };
}

/** Arguments that the operator sets in the configuration file, and users therefore must not. */
export const CONFIGURED_ARGS = [
  "--config",
  "--model",
  "--served-model-name",
  "--tensor-parallel-size",
  "--port",
] as const;

/** How the servers are configured, as a file that they read. */
export function configMapFor(deployment: ModelDeployment) {
  const { model, source, gpuCount } = deployment.spec;
  const revision = source?.huggingFace?.revision;
  const config = {
    model: modelSupply(deployment.spec)?.location ?? model,
    "served-model-name": model,
    ...(revision && { revision }),
    "tensor-parallel-size": Math.max(1, gpuCount),
    port: PORT.containerPort,
  };
  return ConfigMap.draft({
    metadata: metadataOf(deployment),
    data: { "config.yaml": printYaml(config) },
  });
}

/**
 * The StatefulSet that serves the model. Replicas have names that stay; they start and end all at once, since none waits for
 * another. Its size is set in the beginning only: afterwards it is the autoscaler's.
 */
export function statefulSetFor(
  deployment: ModelDeployment,
  options: { products: readonly string[]; replicas: number },
): PlannedChild {
  const { spec } = deployment;
  const config = configMapFor(deployment);
  const draft = StatefulSet.draft({
    metadata: metadataOf(deployment),
    spec: {
      serviceName: headlessName(deployment),
      podManagementPolicy: "Parallel",
      selector: { matchLabels: deploymentLabels(deployment) },
      template: podTemplateFor(spec, {
        metadata: {
          labels: { ...deploymentLabels(deployment), ...MANAGED },
          // Servers read their configuration when they start.
          annotations: { "ai.example.com/config": templateHash(config.data ?? {}) },
        },
        modelName: spec.model,
        args: ["--config", `${CONFIG_FOLDER}/config.yaml`],
        products: options.products,
        volumes: [
          {
            volume: { name: "config", configMap: { name: deployment.metadata.name } },
            mount: { mountPath: CONFIG_FOLDER, readOnly: true },
          },
        ],
      }),
    },
  });
  return plannedChild(draft, { initially: { spec: { replicas: options.replicas } } });
}

function headlessName(deployment: ModelDeployment): string {
  return `${deployment.metadata.name}-pods`;
}

/** The Service by which the model is found. */
export function discoveryServiceFor(deployment: ModelDeployment) {
  return Service.draft({
    metadata: metadataOf(deployment),
    spec: {
      selector: deploymentLabels(deployment),
      ports: [{ name: PORT.name, port: 80, targetPort: PORT.name }],
    },
  });
}

/** The labels of the one Service through which Prometheus finds each replica once. */
export function scrapedLabels(deployment: ModelDeployment): Record<string, string> {
  return { ...deploymentLabels(deployment), "ai.example.com/scrape": "pods" };
}

/** The Service that gives each replica a name of its own in DNS. */
export function headlessServiceFor(deployment: ModelDeployment) {
  const metadata = metadataOf(deployment, "-pods");
  return Service.draft({
    metadata: { ...metadata, labels: { ...metadata.labels, ...scrapedLabels(deployment) } },
    spec: {
      clusterIP: "None",
      selector: deploymentLabels(deployment),
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
  const metric = deployment.spec.scaling?.queueMetric ?? "vllm:num_requests_waiting";
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
