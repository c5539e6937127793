import { Deployment } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/operator-suite";
import { deployed } from "../deployed.ts";
import type { CheckLine } from "../form.ts";
import { shUntil } from "../shell.ts";

/** The deployed operator reconciles a model and logs that; these commands read the log. */
export async function checkLogs(
  stage: TestEnvironment,
  model: { name: string; replicas: number; gpuType: string },
  commands: Readonly<Record<string, string>>,
  line: CheckLine,
): Promise<void> {
  await deployed(stage);
  const { name, replicas, gpuType } = model;
  await stage.apply({
    apiVersion: "ai.example.com/v1",
    kind: "LLMModel",
    metadata: { name },
    spec: { replicas, gpuType },
  });
  await stage.until(
    "its Deployment is made",
    async () => (await stage.find(Deployment, `llmmodel-${name}`)) !== undefined,
  );
  for (const [number, command] of Object.entries(commands)) {
    await line(
      number,
      async () => void (await shUntil(stage, command, new RegExp(`${stage.namespace}/${name}.*reconcile done`))),
    );
  }
}
