import assert from "node:assert/strict";
import { LLMModel, llmModels } from "@konverge/llm-operator";
import { type Client, isNotFound, keyOf, run, sleep } from "konverge";
import { CustomResourceDefinition, Deployment, Namespace } from "konverge/kinds";

/**
 * An LLMModel from its CRD to its end, on whatever cluster the client speaks to: a Deployment appears, is repaired,
 * follows the spec, is reported in the status and goes with the model.
 */
export async function llmModelLives(client: Client): Promise<void> {
  await client.create(CustomResourceDefinition, LLMModel.crd());
  await until(client, "the CRD is established", async () => {
    const { status } = await client.get(CustomResourceDefinition, "llmmodels.ai.example.com");
    return status?.conditions?.some(({ type, status: value }) => type === "Established" && value === "True") ?? false;
  });
  await client.create(Namespace, { metadata: { name: "models" } });
  const manager = await run(llmModels, { client });
  try {
    const model = LLMModel.new({ name: "llama", namespace: "models" }, { replicas: 2, gpuCount: 1, gpuType: "H100" });
    await client.create(LLMModel, model);
    await until(
      client,
      "two replicas are ready",
      async () => (await client.get(LLMModel, keyOf(model))).status?.readyReplicas === 2,
    );

    await client.delete(Deployment, "models/llmmodel-llama");
    await until(client, "the Deployment is back", () => exists(client.get(Deployment, "models/llmmodel-llama")));

    await client.patch(LLMModel, keyOf(model), { merge: { spec: { replicas: 3 } } });
    await until(
      client,
      "three replicas are ready",
      async () => (await client.get(LLMModel, keyOf(model))).status?.readyReplicas === 3,
    );
    const { spec } = await client.get(Deployment, "models/llmmodel-llama");
    assert.equal(spec?.replicas, 3);
    assert.deepEqual(spec?.template.spec?.containers[0]?.resources?.limits, { "nvidia.com/gpu": "1" });

    await client.delete(LLMModel, keyOf(model));
    await until(
      client,
      "the Deployment went with its model",
      async () => !(await exists(client.get(Deployment, "models/llmmodel-llama"))),
    );
  } finally {
    await manager.stop();
  }
}

async function exists(found: Promise<unknown>): Promise<boolean> {
  return found.then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );
}

/** Asks again until it is so; gives up after a minute. */
async function until(client: Client, what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = client.clock.monotonic() + 60_000;
  while (!(await condition())) {
    if (client.clock.monotonic() > deadline) assert.fail(`it never came true that ${what}`);
    await sleep(client.clock, 50);
  }
}
