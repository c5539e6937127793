import assert from "node:assert/strict";
import { LLMModel, llmOperator, ModelDeployment } from "@konverge/llm-operator";
import { onEmbedded, type Scenario } from "@konverge/operator-suite";
import { Deployment, StatefulSet } from "konverge/kinds";
import { untilReady } from "./llm-model-scenarios.ts";
import { deployment, operatorWithoutMetrics, untilDeployed } from "./model-deployment-scenarios.ts";
import { prerequisites, readmeObjects } from "./model-sources-scenarios.ts";

/** The example of the README: each adapter is loaded, and the status counts the replicas that serve it. */
const served: Scenario = async (stage) => {
  await prerequisites(stage);
  await stage.start(llmOperator);
  const [object] = readmeObjects("LoRA adapters");
  await stage.apply(object!);
  await untilReady(stage, "with-adapters");
  const { spec } = await stage.get(Deployment, "llmmodel-with-adapters");
  const { args = [] } = spec!.template.spec!.containers[0]!;
  assert.deepEqual(args.slice(args.indexOf("--enable-lora")), [
    "--enable-lora",
    "--lora-modules",
    "sql=example/llama-3-sql-lora",
    "support=/mnt/adapters/support/adapters/support",
    "legal=/home/model/.cache/huggingface/s3/models/adapters/legal",
    "--max-loras",
    "3",
    "--max-lora-rank",
    "32",
  ]);
  await stage.until("the status lists the adapters", async () => {
    const { status } = await stage.get(LLMModel, "with-adapters");
    return status?.adapters?.every(({ readyReplicas }) => readyReplicas === 1) ?? false;
  });
  assert.deepEqual((await stage.get(LLMModel, "with-adapters")).status?.adapters, [
    { name: "sql", source: "hf://example/llama-3-sql-lora", readyReplicas: 1 },
    { name: "support", source: "pvc://weights/adapters/support", readyReplicas: 1 },
    { name: "legal", source: "s3://models/adapters/legal", readyReplicas: 1 },
  ]);
};

/** A list that changes is a rollout; without the field, nothing is left of it. */
const changed: Scenario = async (stage) => {
  await stage.start(operatorWithoutMetrics);
  const adapter = (name: string) => ({ name, source: { huggingFace: { repo: `org/${name}` } } });
  await stage.apply(deployment("chat", { model: "m", lora: { adapters: [adapter("a")] } }));
  await untilDeployed(stage, "chat", 1);
  await stage.apply(deployment("chat", { model: "m", lora: { adapters: [adapter("a"), adapter("b")] } }));
  await stage.until("both are served", async () => {
    const { status } = await stage.get(ModelDeployment, "chat");
    return status?.adapters?.map(({ name, readyReplicas }) => `${name} ${readyReplicas}`).join() === "a 1,b 1";
  });
  await stage.apply(deployment("chat", { model: "m" }));
  await stage.until("no adapter is left", async () => {
    const { args } = (await stage.get(StatefulSet, "chat")).spec!.template.spec!.containers[0]!;
    const { status } = await stage.get(ModelDeployment, "chat");
    return args?.length === 2 && status?.adapters === undefined;
  });
};

onEmbedded("LoRA adapters of each source are served, and the status counts replicas", served);
onEmbedded("a changed list of LoRA adapters is rolled out", changed);
