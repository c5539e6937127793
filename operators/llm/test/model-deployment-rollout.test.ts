import assert from "node:assert/strict";
import { ModelDeployment } from "@konverge/llm-operator";
import { onEmbedded } from "@konverge/operator-suite";
import { Pod } from "konverge/kinds";
import { deployment, operatorWithoutMetrics, untilDeployed } from "./model-deployment-scenarios.ts";

onEmbedded("another image of a ModelDeployment replaces one replica at a time", async (stage) => {
  await stage.start(operatorWithoutMetrics);
  // A server that takes a while to load its model.
  const template = { metadata: { annotations: { "sim.konverge.dev/ready-delay": "45s" } } };
  const spec = { model: "m", replicas: 3, gpuCount: 0, template };
  await stage.apply(deployment("chat", spec));
  await untilDeployed(stage, "chat", 3);
  await stage.apply(deployment("chat", { ...spec, image: "vllm/vllm-openai:v0.9" }));
  let fewest = 3;
  let isProgressReported = false;
  await stage.until("all replicas run the new image", async () => {
    const pods = await stage.list(Pod, "app=modeldeployment");
    const serving = pods.filter(({ metadata, status }) => {
      const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
      return isReady && !metadata.deletionTimestamp;
    });
    fewest = Math.min(fewest, serving.length);
    isProgressReported ||= /^True/.test((await stage.condition(ModelDeployment, "chat", "Progressing")) ?? "");
    return serving.length === 3 && serving.every(({ spec: of }) => of?.containers[0]?.image?.endsWith(":v0.9"));
  });
  assert.equal(fewest, 2);
  assert.ok(isProgressReported, "the rollout is not reported");
  await untilDeployed(stage, "chat", 3);
});
