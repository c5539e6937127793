import type { ObjectMeta } from "konverge";
import { Deployment, PodDisruptionBudget, Service } from "konverge/kinds";
import { sameNodeAffinity } from "konverge/pods";
import { PORT } from "./container-layout.ts";
import { engineOf } from "./engines/engine-of.ts";
import { MANAGED, podTemplateFor, progressDeadline, servedModel } from "./inference-server.ts";
import type { LLMModel } from "./llm-model.ts";
import { WITH_SPARE } from "./rollout-room.ts";

/** The labels by which a model's pods are selected. */
export function labelsOf(model: LLMModel): Record<string, string> {
  return { app: "llmmodel", "ai.example.com/model": model.metadata.name };
}

/** The name of all that belongs to a model. */
export function childName(model: LLMModel): string {
  return `llmmodel-${model.metadata.name}`;
}

/** The model's own name, or the object's. */
export function modelNameOf({ metadata, spec }: LLMModel): string {
  return spec.modelName ?? metadata.name;
}

function metadataOf(model: LLMModel): ObjectMeta {
  return {
    name: childName(model),
    namespace: model.metadata.namespace,
    labels: { ...labelsOf(model), ...MANAGED },
  };
}

/** What is observed that the Deployment of a model depends on. */
export interface Placement {
  /** The GPU products that its nodes have. */
  readonly products?: readonly string[];
  readonly isBoundToNode?: boolean;
  /** How a rollout replaces replicas. */
  readonly strategy?: NonNullable<Deployment["spec"]>["strategy"];
}

/** The Deployment that serves a model. */
export function deploymentFor(
  model: LLMModel,
  { products = defaultProducts(model), isBoundToNode = false, strategy = WITH_SPARE }: Placement = {},
) {
  const { spec } = model;
  const labels = { ...labelsOf(model), ...MANAGED };
  const modelName = modelNameOf(model);
  return Deployment.draft({
    metadata: metadataOf(model),
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labelsOf(model) },
      strategy,
      progressDeadlineSeconds: progressDeadline(spec),
      template: podTemplateFor(spec, {
        metadata: { labels },
        modelName,
        args: engineOf(spec).args(spec, servedModel(spec, modelName)),
        products,
        // A rollout's new replica starts where the volume is.
        ...(isBoundToNode && { together: sameNodeAffinity(labelsOf(model)) }),
      }),
    },
  });
}

function defaultProducts({ spec: { gpuType } }: LLMModel): string[] {
  return gpuType ? [gpuType] : [];
}

/** The Service in front of a model's replicas. */
export function serviceFor(model: LLMModel) {
  return Service.draft({
    metadata: metadataOf(model),
    spec: { selector: labelsOf(model), ports: [{ name: PORT.name, port: 80, targetPort: PORT.name }] },
  });
}

/** Where a model answers inside the cluster. */
export function endpointOf(model: LLMModel): string {
  return `http://${childName(model)}.${model.metadata.namespace}.svc/v1`;
}

/** One replica at a time may be taken away by node maintenance. */
export function disruptionBudgetFor(model: LLMModel) {
  return PodDisruptionBudget.draft({
    metadata: metadataOf(model),
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(model) } },
  });
}
