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

const DEVICES = { accelerator: { claim: { deviceClass: "gpu.example.com" } } };

/** Each replica claims its devices; other devices are another template, and the old one goes. */
export const devicesClaimed: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(model("llama", { replicas: 1, gpuCount: 1, ...DEVICES }));
  const templates = async () => (await stage.list(ResourceClaimTemplate)).map(({ metadata }) => metadata.name);
  await stage.until("a claim is made of the template", async () => (await stage.list(ResourceClaim)).length === 1);
  const [before] = await templates();
  await stage.apply(model("llama", { replicas: 1, gpuCount: 2, ...DEVICES }));
  await stage.until("there is another template alone", async () => {
    const names = await templates();
    return names.length === 1 && names[0] !== before;
  });
  await stage.client.delete(LLMModel, `${stage.namespace}/llama`);
  await stage.until("it goes with the model", async () => (await templates()).length === 0);
};
