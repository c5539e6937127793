import assert from "node:assert/strict";
import { ModelDeployment } from "@konverge/llm-operator";
import { customMetrics, onEmbedded, registerMetricsAdapter, type Scenario } from "@konverge/operator-suite";
import { HorizontalPodAutoscaler, Pod, StatefulSet } from "konverge/kinds";
import { deployment, operatorWithoutMetrics, untilDeployed } from "./model-deployment-scenarios.ts";

/** The adapter reports this value for each of these pods. */
const adapter = { asked: new Set<string>(), value: "0", pods: [] as readonly string[], now: 0 };
const answer = customMetrics(
  (metric) => {
    adapter.asked.add(metric);
    return adapter.pods.map((name) => [name, adapter.value]);
  },
  () => adapter.now,
);

/** What waits at the servers moves the size within the bounds that the operator sets, and no further. */
const follows: Scenario = async (stage) => {
  await registerMetricsAdapter(stage);
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("chat", { model: "m", replicas: 4, gpuCount: 0 }));
  await untilDeployed(stage, "chat", 4);
  const size = async () => (await stage.get(StatefulSet, "chat")).spec?.replicas;
  const { minReplicas, maxReplicas } = (await stage.get(HorizontalPodAutoscaler, "chat")).spec!;
  assert.deepEqual([minReplicas, maxReplicas], [4, 6]);
  const advanceWith = async (value: string, ms: number) => {
    adapter.value = value;
    for (let passed = 0; passed < ms; passed += 15_000) {
      adapter.now = stage.clock.now();
      adapter.pods = (await stage.list(Pod, "app=modeldeployment")).map(({ metadata }) => metadata.name);
      await stage.advance(15_000);
      const now = await size();
      assert.ok(now! >= minReplicas! && now! <= maxReplicas, `${now} is out of bounds`);
    }
  };
  await advanceWith("0", 60_000);
  assert.equal(await size(), 4, "no request waits");
  assert.match((await stage.condition(HorizontalPodAutoscaler, "chat", "ScalingActive")) ?? "", /^True/);
  assert.deepEqual([...adapter.asked], ["vllm:num_requests_waiting"]);
  await advanceWith("50", 120_000);
  assert.equal(await size(), 6, "many wait: as many as are allowed");
  await untilDeployed(stage, "chat", 6);
  assert.equal(
    (await stage.get(ModelDeployment, "chat")).status?.decisions?.length,
    1,
    "the operator has decided once",
  );
  await advanceWith("0", 8 * 60_000);
  assert.equal(await size(), 4, "no request waits any more");
};

onEmbedded("a ModelDeployment's autoscaler follows what waits at the servers", follows, { extension: answer });
