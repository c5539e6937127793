import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Metrics } from "konverge/observability";
import { parseYaml } from "konverge/schema";
import { TrainingMetrics } from "./training-metrics.ts";

const folder = join(import.meta.dirname, "..", "monitoring");

/** The names of all series that the operator and the runtime export. */
function exported(): Set<string> {
  const { registry } = new Metrics();
  new TrainingMetrics(registry);
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  return new Set(names.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]));
}

/** The names of series in an expression: what is neither a function, a label nor a keyword. */
function seriesIn(expression: string): string[] {
  const bare = expression.replace(/\{[^}]*\}/g, "").replace(/\b(by|without|on|ignoring) *\([^)]*\)/g, "");
  return [...bare.matchAll(/\b[a-z][a-z0-9_]*_[a-z0-9_]+\b(?! *\()|\btraining_jobs\b/g)].map(([name]) => name);
}

function check(expressions: readonly string[]): void {
  const known = exported();
  const used = expressions.flatMap(seriesIn);
  assert.ok(used.length >= expressions.length, "every expression names a series");
  assert.deepEqual(
    used.filter((name) => !known.has(name)),
    [],
  );
}

test("alerts watch series that exist", () => {
  const [rule] = parseYaml(readFileSync(join(folder, "alerts.yaml"), "utf8")) as [
    { spec: { groups: { rules: { alert: string; expr: string; annotations: object }[] }[] } },
  ];
  const rules = rule.spec.groups.flatMap((group) => group.rules);
  check(rules.map(({ expr }) => expr));
  assert.deepEqual(
    rules.filter(({ annotations }) => !("description" in annotations)),
    [],
  );
});

test("the dashboard shows series that exist", () => {
  const dashboard = JSON.parse(readFileSync(join(folder, "dashboard.json"), "utf8")) as {
    panels: { targets?: { expr: string }[] }[];
  };
  check(dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)));
});

test("the document's metrics have its names and its words", async () => {
  const { registry } = new Metrics({ process: false });
  new TrainingMetrics(registry);
  const text = await registry.metrics();
  assert.match(text, /# HELP training_jobs_created_total Total number of training jobs created\n# TYPE \w+ counter/);
  assert.match(text, /# HELP training_job_duration_seconds Training job duration in seconds\n# TYPE \w+ histogram/);
});
