import assert from "node:assert/strict";
import { test } from "node:test";
import { LLMModel, llmOperator, ModelMetrics } from "@konverge/llm-operator";
import { monitoringIsTrue } from "@konverge/operator-suite";
import { Metrics } from "konverge/observability";

/** What vLLM exports, and Prometheus scrapes by the ServiceMonitors: https://docs.vllm.ai/en/latest/usage/metrics/ */
const VLLM = [
  "vllm:request_success_total",
  "vllm:num_requests_running",
  "vllm:num_requests_waiting",
  "vllm:e2e_request_latency_seconds",
  "vllm:time_to_first_token_seconds",
];

monitoringIsTrue(llmOperator, new URL("../monitoring/", import.meta.url), VLLM);

test("metrics have namespace and name, and exist only for objects that exist and values that are known", async () => {
  const { registry } = new Metrics({ process: false });
  const metrics = new ModelMetrics(registry);
  const model = (name: string) => LLMModel.new({ metadata: { name, namespace: "ns" } });
  const [a, b] = [model("a"), model("b")];
  let existing = [a, b];
  metrics.models.set(a, { wanted: 3, ready: 2 }, () => existing);
  metrics.deployments.set(b, { wanted: 1, ready: 1 }, () => existing);
  const text = await registry.metrics();
  assert.match(text, /llm_model_replicas_ready\{namespace="ns",name="a"\} 2/);
  assert.doesNotMatch(text, /llm_deployment_latency_seconds\{/);
  existing = [b];
  assert.doesNotMatch(await registry.metrics(), /llm_model_replicas_ready\{/);
});
