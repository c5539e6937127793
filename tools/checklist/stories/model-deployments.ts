import assert from "node:assert/strict";
import { ConfigMap, HorizontalPodAutoscaler, Pod, Service, StatefulSet } from "@konverge/kinds";
import { llmOperatorWith, ModelDeployment } from "@konverge/llm-operator";
import type { Story } from "../form.ts";
import type { ModelCase } from "./model-case.ts";

/** Simulated servers return no metrics. */
const operator = llmOperatorWith(async () => {
  throw new Error("no server listens");
});

/** A model served within an agreement on its latency. */
export const modelDeployments: Story<ModelCase> = {
  title: "a ModelDeployment",
  lines: {
    "L27-30": "ModelDeployment is a kind",
    "L381-384": "model, replicas and the SLA's latency are taken as written",
    "L393-398": "spec, replicas from the SLA, StatefulSet, Service, autoscaler, status",
    L406: "a StatefulSet, a Service, an autoscaler and a ConfigMap are made",
    L411: "pods have names that count from 0",
  },
  async play(stage, { model, replicas }, line) {
    await stage.start(operator);
    const size = replicas + 1;
    await line("L27-30", async () => assert.deepEqual(await stage.list(ModelDeployment), []));
    await line("L381-384", async () => {
      const spec = { model, replicas: size, sla: { maxLatency: "100ms" } };
      await stage.apply({ apiVersion: "ai.example.com/v1", kind: "ModelDeployment", metadata: { name: model }, spec });
      const stored = await stage.get(ModelDeployment, model);
      assert.equal(stored.spec.sla?.maxLatency, "100ms");
    });
    await line("L393-398", async () => {
      await stage.until(
        "all replicas are ready",
        async () => (await stage.get(ModelDeployment, model)).status?.readyReplicas === size,
      );
      const { status } = await stage.get(ModelDeployment, model);
      assert.equal(status?.decisions?.at(-1)?.to, size);
      assert.equal((await stage.get(HorizontalPodAutoscaler, model)).spec?.minReplicas, size);
    });
    await line("L406", async () => {
      assert.ok(await stage.find(StatefulSet, model));
      assert.ok(await stage.find(Service, model));
      assert.ok(await stage.find(ConfigMap, model));
    });
    await line("L411", async () => {
      const names = (await stage.list(Pod)).map(({ metadata }) => metadata.name).sort();
      assert.deepEqual(
        names,
        Array.from({ length: size }, (_, i) => `${model}-${i}`),
      );
    });
  },
};
