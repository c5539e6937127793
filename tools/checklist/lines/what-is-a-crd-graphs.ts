import assert from "node:assert/strict";
import { DynamoGraphDeployment, dynamoOperator } from "@konverge/dynamo-operator";
import { Deployment } from "konverge/kinds";
import { gpuProductsIn, isGpuOfType } from "konverge/pods";
import { checklist } from "../form.ts";

export default checklist({
  id: "D0",
  name: "what-is-a-crd",
  cases: [
    { namespace: "default", name: "llama-3-70b", latency: 100, throughput: 50, gpus: 4, gpuType: "H100" },
    { namespace: "team-c", name: "tiny", latency: 300, throughput: 900, gpus: 1, gpuType: "A100" },
  ],
  stories: [
    {
      title: "a graph by its SLA",
      lines: { "L279-296": "a model is placed on GPUs and sized by what is promised about it" },
      async play(stage, { name, latency, throughput, gpus, gpuType }, line) {
        await stage.start(dynamoOperator);
        await stage.apply({
          apiVersion: "nvidia.com/v1",
          kind: "DynamoGraphDeployment",
          metadata: { name },
          spec: {
            sla: { max_latency_ms: latency, min_throughput: throughput },
            model: { name, placement: { tensor_parallel_size: gpus, gpu_type: gpuType } },
          },
        });
        await line("L279-296", async () => {
          await stage.until("it is successful", async () => {
            return (await stage.find(DynamoGraphDeployment, name))?.status?.state === "successful";
          });
          const { spec } = await stage.get(Deployment, `${name}-vllmworker`);
          const pod = spec!.template.spec!;
          const products = gpuProductsIn(pod.affinity);
          assert.ok(products.length > 0 && products.every((product) => isGpuOfType(product, gpuType)), `${products}`);
          assert.deepEqual(pod.containers[0]!.resources?.limits, { "nvidia.com/gpu": String(gpus) });
          const { status } = await stage.get(DynamoGraphDeployment, name);
          assert.equal(spec!.replicas, status?.sizing?.replicas);
          assert.match(status!.sizing!.reason, new RegExp(`^${throughput} requests per second within ${latency} ms`));
        });
      },
    },
  ],
});
