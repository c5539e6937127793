import type { Container, Deployment, PodDisruptionBudget, PodSpec, Service, Volume } from "konverge/kinds";
import type { LLMModel } from "./llm-model.ts";

/** The port on which vLLM answers. */
const PORT = 8000;
const MODEL_VOLUME = "model";
const SHARED_MEMORY = "shared-memory";

/** Large models take their time: up to half an hour to load before a restart. */
const STARTUP_SECONDS = 30 * 60;

export function labelsOf(model: LLMModel): Record<string, string> {
  return { app: "llmmodel", "ai.example.com/model": model.metadata.name };
}

function metadataOf(model: LLMModel) {
  const { name, namespace } = model.metadata;
  return { name: `llmmodel-${name}`, namespace, labels: labelsOf(model) };
}

/**
 * The Deployment that serves a model. A rollout starts a new replica before it ends an old one, so that capacity never
 * dips; that takes a free set of GPUs.
 */
export function deploymentFor(model: LLMModel): Deployment {
  const labels = labelsOf(model);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(model),
    spec: {
      replicas: model.spec.replicas,
      selector: { matchLabels: labels },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      progressDeadlineSeconds: STARTUP_SECONDS + 10 * 60,
      template: { metadata: { labels }, spec: podSpecFor(model) },
    },
  };
}

function podSpecFor(model: LLMModel): PodSpec {
  const { gpuType, modelPath, sharedMemory } = model.spec;
  return {
    ...(gpuType && { nodeSelector: { "nvidia.com/gpu.product": gpuType } }),
    containers: [containerFor(model)],
    volumes: [
      { name: SHARED_MEMORY, emptyDir: { medium: "Memory", sizeLimit: String(sharedMemory) } },
      ...hostFolder(MODEL_VOLUME, modelPath),
    ],
  };
}

function hostFolder(name: string, path: string | undefined): Volume[] {
  return path ? [{ name, hostPath: { path, type: "Directory" } }] : [];
}

function containerFor(model: LLMModel): Container {
  const { modelName = model.metadata.name, gpuCount, modelPath, image, args = [], env = [] } = model.spec;
  const health = { httpGet: { path: "/health", port: "http" } };
  return {
    name: "model",
    image,
    args: [
      "--model",
      modelPath ?? modelName,
      ...servedName(modelName, modelPath),
      "--tensor-parallel-size",
      String(Math.max(1, gpuCount)),
      ...args,
    ],
    env: [{ name: "MODEL_NAME", value: modelName }, ...env.filter(({ name }) => name !== "MODEL_NAME")],
    ports: [{ name: "http", containerPort: PORT }],
    ...(gpuCount > 0 && { resources: { limits: { "nvidia.com/gpu": String(gpuCount) } } }),
    startupProbe: { ...health, periodSeconds: 10, failureThreshold: STARTUP_SECONDS / 10 },
    readinessProbe: { ...health, periodSeconds: 5 },
    livenessProbe: { ...health, periodSeconds: 10, failureThreshold: 6 },
    volumeMounts: [
      { name: SHARED_MEMORY, mountPath: "/dev/shm" },
      ...(modelPath ? [{ name: MODEL_VOLUME, mountPath: modelPath, readOnly: true }] : []),
    ],
  };
}

/** A model that is loaded from a folder keeps its own name in the API. */
function servedName(modelName: string, modelPath: string | undefined): string[] {
  return modelPath ? ["--served-model-name", modelName] : [];
}

/** The Service in front of a model's replicas. */
export function serviceFor(model: LLMModel): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(model),
    spec: { selector: labelsOf(model), ports: [{ name: "http", port: 80, targetPort: "http" }] },
  };
}

/** One replica at a time may be taken away by node maintenance. */
export function disruptionBudgetFor(model: LLMModel): PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadataOf(model),
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(model) } },
  };
}
