import assert from "node:assert/strict";
import { LLMModel, llmOperator } from "@konverge/llm-operator";
import type { Stage } from "@konverge/operator-suite";
import { checklist } from "../form.ts";

/** Runs a line of shell, which must succeed, and gives what it printed. */
async function sh(stage: Stage, command: string): Promise<string> {
  const { code, stdout, stderr } = await stage.shell(command);
  assert.equal(code, 0, `${command}\n${stdout}${stderr}`);
  return stdout;
}

export default checklist({
  id: "D0",
  name: "what-is-a-crd",
  cases: [
    { namespace: "default", name: "my-model", model: "llama-3-70b", replicas: 3, gpuType: "H100" },
    { namespace: "team-b", name: "chat", model: "mistral-7b", replicas: 2, gpuType: "A100" },
  ],
  stories: [
    {
      title: "kubectl and custom resources",
      kubectl: true,
      lines: {
        L96: "kubectl lists the models",
        L220: "kubectl lists them by their short name",
        L97: "kubectl describes a model",
      },
      async play(stage, { name, model, replicas, gpuType }, line) {
        await stage.install(llmOperator);
        await stage.apply({
          apiVersion: "ai.example.com/v1",
          kind: "LLMModel",
          metadata: { name },
          spec: { modelName: model, replicas, gpuType },
        });
        await line("L96", async () =>
          assert.match(await sh(stage, "kubectl get llmmodels"), new RegExp(`${name} +${model}`)),
        );
        await line("L220", async () =>
          assert.match(await sh(stage, "kubectl get llm"), new RegExp(`${name} +${model}`)),
        );
        await line("L97", async () => {
          assert.match(await sh(stage, `kubectl describe llmmodel ${name}`), new RegExp(`Gpu Type: +${gpuType}`));
          assert.equal((await stage.get(LLMModel, name)).status, undefined);
        });
      },
    },
  ],
});
