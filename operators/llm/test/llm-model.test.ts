import { test } from "node:test";
import { startCluster } from "@konverge/dev";
import { llmModelLives } from "./llm-model-scenario.ts";

test("an LLMModel lives on the embedded cluster", async () => {
  await using cluster = await startCluster();
  await llmModelLives(cluster.client);
});
