import assert from "node:assert/strict";
import { LLMModel, llmOperator } from "@konverge/llm-operator";
import { exactRole, onEmbedded, type Scenario, survivesCrashes } from "@konverge/operator-suite";
import { Deployment } from "konverge/kinds";

const converges: Scenario = async (stage) => {
  await stage.start(llmOperator);
  await stage.apply(`
apiVersion: ai.example.com/v1
kind: LLMModel
metadata: {name: llama}
spec: {replicas: 2, gpuType: H100}
`);
  await stage.until("ready", async () => (await stage.condition(LLMModel, "llama", "Ready")) === "True AsExpected");
  assert.equal((await stage.get(Deployment, "llmmodel-llama")).spec?.replicas, 2);
};
onEmbedded("converges", converges);
survivesCrashes("survives", llmOperator, converges);
exactRole(llmOperator, [converges]);
