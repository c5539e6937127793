import assert from "node:assert/strict";
import { test } from "node:test";
import { sizesIn, totalsIn } from "./operator-metrics.ts";

test("the series of a controller are added up", () => {
  const text = [
    "# TYPE controller_runtime_reconcile_total counter",
    'controller_runtime_reconcile_total{controller="models",result="success"} 7',
    'controller_runtime_reconcile_total{controller="models",result="error"} 2',
    'controller_runtime_reconcile_errors_total{controller="models"} 2',
    'workqueue_depth{name="models",controller="models",priority="0"} 3',
    'workqueue_depth{name="models",controller="models",priority="-100"} 4',
    'controller_runtime_reconcile_time_seconds_bucket{le="0.005",controller="models"} 5',
    'controller_runtime_reconcile_time_seconds_bucket{le="+Inf",controller="models"} 9',
    'process_cpu_seconds_total{x="y"} 1',
  ].join("\n");
  const found = totalsIn(text);
  assert.deepEqual([...found.keys()], ["models"]);
  const { reconciles, errors, depth, buckets } = found.get("models")!;
  assert.deepEqual({ reconciles, errors, depth }, { reconciles: 9, errors: 2, depth: 7 });
  assert.deepEqual(buckets, [
    [0.005, 5],
    [Number.POSITIVE_INFINITY, 9],
  ]);
});

test("load and size of an object come from the gauges of the operator that sizes it", () => {
  const text = [
    'llm_model_replicas_wanted{namespace="default",name="base"} 1',
    'llm_deployment_replicas_wanted{namespace="default",name="chat"} 3',
    'llm_deployment_replicas_ready{namespace="default",name="chat"} 2',
    'llm_deployment_requests_per_second{namespace="default",name="chat"} 41.5',
  ].join("\n");
  assert.deepEqual(sizesIn(text), [{ name: "default/chat", wanted: 3, ready: 2, load: 41.5 }]);
});
