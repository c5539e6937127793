import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LLMModel, llmOperator, ModelMetrics } from "@konverge/llm-operator";
import { Metrics, silentLog } from "konverge/observability";
import { parseYaml } from "konverge/schema";

const file = (name: string) => readFileSync(new URL(`../monitoring/${name}`, import.meta.url), "utf8");

/** Names of series in an expression: what is neither a function nor a label. */
function seriesIn(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"|by \([^)]*\)/g, " ");
  return [...bare.matchAll(/\b[a-z_:][a-z0-9_:]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => name.includes("_") && name !== "avg_over_time");
}

async function exported(): Promise<string> {
  const { registry } = new Metrics({ process: false });
  llmOperator.create({ metrics: registry, settings: {}, log: silentLog });
  return registry.metrics();
}

test("each series that alerts and dashboard name is one that the operator exports", async () => {
  const text = await exported();
  const [rules] = parseYaml(file("alerts.yaml")) as [{ spec: { groups: { rules: { expr: string }[] }[] } }];
  const dashboard = JSON.parse(file("dashboard.json")) as { panels: { targets: { expr: string }[] }[] };
  const expressions = [
    ...rules.spec.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  const names = expressions.flatMap(seriesIn);
  assert.ok(names.length > 10);
  for (const name of names) assert.match(text, new RegExp(`^# TYPE ${name} `, "m"), `${name} is not exported`);
});

test("numbers are told by namespace and name, of objects that exist, as far as they are known", async () => {
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
