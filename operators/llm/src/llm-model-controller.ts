import { controller, no, yes } from "konverge";
import { Deployment, Service } from "konverge/kinds";
import { LLMModel } from "./llm-model.ts";

const PORT = 8000;

/** Keeps a Deployment and a Service for each LLMModel. */
export const llmModels = controller(LLMModel, {
  owns: [Deployment, Service],
  reconcile(model, { observed }) {
    const deployment = deploymentFor(model);
    const ready = observed(deployment)?.status?.readyReplicas ?? 0;
    const wanted = model.spec.replicas;
    return {
      children: [deployment, serviceFor(model)],
      status: { readyReplicas: ready },
      conditions: {
        Ready: ready >= wanted ? yes("Available") : no("Progressing", `${ready} of ${wanted} replicas are ready`),
      },
    };
  },
});

const labelsOf = (model: LLMModel) => ({ app: "llmmodel", "ai.example.com/model": model.metadata.name });

/** The Deployment that serves a model. */
export function deploymentFor(model: LLMModel): Deployment {
  const { modelName = model.metadata.name, replicas, gpuCount, gpuType } = model.spec;
  const labels = labelsOf(model);
  const gpus = gpuCount > 0 ? { "nvidia.com/gpu": String(gpuCount) } : undefined;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `llmmodel-${model.metadata.name}`, namespace: model.metadata.namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...(gpuType && { nodeSelector: { "nvidia.com/gpu.product": gpuType } }),
          containers: [
            {
              name: "model",
              image: "vllm/vllm-openai:latest",
              args: ["--model", modelName, "--tensor-parallel-size", String(Math.max(1, gpuCount))],
              env: [{ name: "MODEL_NAME", value: modelName }],
              ports: [{ name: "http", containerPort: PORT }],
              ...(gpus && { resources: { limits: gpus } }),
            },
          ],
        },
      },
    },
  };
}

/** The Service in front of a model's replicas. */
export function serviceFor(model: LLMModel): Service {
  const labels = labelsOf(model);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: `llmmodel-${model.metadata.name}`, namespace: model.metadata.namespace, labels },
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
  };
}
