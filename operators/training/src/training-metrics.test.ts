import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "konverge/observability";
import { TrainingMetrics } from "./training-metrics.ts";

test("the document's metrics have its names and its words", async () => {
  const { registry } = new Metrics({ process: false });
  new TrainingMetrics(registry);
  const text = await registry.metrics();
  assert.match(text, /# HELP training_jobs_created_total Total number of training jobs created\n# TYPE \w+ counter/);
  assert.match(text, /# HELP training_job_duration_seconds Training job duration in seconds\n# TYPE \w+ histogram/);
});
