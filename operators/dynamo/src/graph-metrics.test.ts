import assert from "node:assert/strict";
import { test } from "node:test";
import { DynamoGraphDeployment, GraphMetrics } from "@konverge/dynamo-operator";
import { Metrics } from "konverge/observability";

const graph = (name: string, status: DynamoGraphDeployment["status"]) => ({
  ...DynamoGraphDeployment.new({ metadata: { namespace: "ns", name, uid: `uid-${name}` }, spec: { services: {} } }),
  status,
});
const LOAD = { load: 12, serviceTime: 0.1, latency: 0.2, requests: 720, draining: false };

test("a graph is exported with its services, its size and what was measured last, as long as it exists", async () => {
  const { registry } = new Metrics({ process: false });
  const metrics = new GraphMetrics(registry);
  const service = { componentName: "a-worker", replicas: 2, readyReplicas: 1, ready: false };
  const a = graph("a", { state: "pending", services: { Worker: service }, sizing: { replicas: 2, reason: "" } });
  const b = graph("b", { state: "successful" });
  let existing = [a, b];
  metrics.graphs = () => existing;
  metrics.measured(a, LOAD);
  metrics.measured(b, undefined);
  const exported = async () =>
    (await registry.metrics())
      .split("\n")
      .filter((line) => line.startsWith("dynamo_"))
      .map((line) => line.replace('namespace="ns",', ""));
  assert.deepEqual(await exported(), [
    'dynamo_graph_ready{name="a"} 0',
    'dynamo_graph_ready{name="b"} 1',
    'dynamo_service_ready{name="a",service="Worker"} 0',
    'dynamo_service_replicas_ready{name="a",service="Worker"} 1',
    'dynamo_graph_workers_wanted{name="a"} 2',
    'dynamo_graph_requests_per_second{name="a"} 12',
    'dynamo_graph_latency_seconds{name="a"} 0.2',
  ]);
  existing = [b];
  await registry.metrics();
  existing = [a, b];
  assert.ok(!(await exported()).some((line) => line.startsWith("dynamo_graph_latency")), "a was deleted meanwhile");
});
