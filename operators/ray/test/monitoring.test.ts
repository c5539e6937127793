import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { onEmbedded } from "@konverge/operator-suite";
import { rayOperator } from "@konverge/ray-operator";

const read = (name: string) => readFileSync(new URL(`../monitoring/${name}`, import.meta.url), "utf8");

onEmbedded("alerts and dashboard speak only of metrics that there are", async (stage) => {
  const running = await stage.start(rayOperator);
  const exported = await running.metrics();
  const named = `${read("alerts.yaml")}${read("dashboard.json")}`.match(
    /(controller_runtime|workqueue|konverge)_\w+/g,
  )!;
  for (const name of new Set(named)) {
    const series = name.replace(/_(bucket|sum|count)$/, "");
    assert.ok(exported.includes(`# TYPE ${series} `), `${name} is not exported`);
  }
});
