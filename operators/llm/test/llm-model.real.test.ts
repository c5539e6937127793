import { test } from "node:test";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { connect } from "konverge";
import { llmModelLives } from "./llm-model-scenario.ts";

const plane = findControlPlane();

test("an LLMModel lives on a real control plane", { skip: plane.available ? false : plane.why }, async () => {
  await using cluster = await startRealCluster({
    controllers: true,
    scheduler: true,
    kwok: { nodes: 2, gpus: 8, gpuProduct: "H100" },
  });
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  try {
    await llmModelLives(client);
  } finally {
    await client.close();
  }
});
