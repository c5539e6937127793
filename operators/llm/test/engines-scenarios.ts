import assert from "node:assert/strict";
import { LLMModel, llmOperator } from "@konverge/llm-operator";
import type { Scenario } from "@konverge/operator-suite";
import { Deployment, ResourceClaim, ResourceClaimTemplate } from "konverge/kinds";
import { model, untilReady } from "./llm-model-scenarios.ts";
import { prerequisites, readmeObjects } from "./model-sources-scenarios.ts";

/** The objects of the README's section become ready. */
export const enginesServe: Scenario = async (stage) => {
  await prerequisites(stage);
  await stage.start(llmOperator);
  for (const object of readmeObjects("Engines")) await stage.apply(object);
  for (const name of ["with-sglang", "with-llama-cpp", "with-ollama"]) await untilReady(stage, name);
  const { spec } = await stage.get(Deployment, "llmmodel-with-ollama");
  assert.equal(spec?.template.spec?.initContainers?.[0]?.name, "download-model");
};

/** The engine changes: a rollout, after which nothing of the old one is left. */
export const engineChanges: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 1, gpuCount: 0 }));
  await untilReady(stage, "llama");
  await stage.apply(model("llama", { replicas: 1, gpuCount: 0, engine: "LlamaCpp" }));
  await untilReady(stage, "llama");
  const { spec } = await stage.get(Deployment, "llmmodel-llama");
  assert.equal(spec?.template.spec?.containers[0]?.image, "ghcr.io/ggml-org/llama.cpp:server");
};

/** Each replica has a claim of the template that the model names. */
export const devicesClaimed: Scenario = async (stage) => {
  await stage.client.create(ResourceClaimTemplate, {
    metadata: { name: "two-gpus", namespace: stage.namespace },
    spec: {
      spec: { devices: { requests: [{ name: "gpus", exactly: { deviceClassName: "gpu.example.com", count: 2 } }] } },
    },
  });
  await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 2, gpuCount: 2, accelerator: { claimTemplate: "two-gpus" } }));
  await stage.until("each replica has a claim", async () => (await stage.list(ResourceClaim)).length === 2);
  await stage.client.delete(LLMModel, `${stage.namespace}/llama`);
  await stage.until("claims go with the model", async () => (await stage.list(ResourceClaim)).length === 0);
};
